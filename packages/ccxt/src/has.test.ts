/** `has` is true: what it names works, and what works is named. */

import { Exchange, errors } from "ccxt";
import { expect, test } from "vitest";
import { Perpgate } from "./perpgate.js";
import { expectOrder } from "./testing/structure.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const exchange = new Perpgate();

/** Whether one of this package's classes has the method. */
function isOwn(name: string): boolean {
  let prototype: object = Perpgate.prototype;
  while (prototype !== Exchange.prototype) {
    if (Object.hasOwn(prototype, name)) return true;
    prototype = Object.getPrototypeOf(prototype);
  }
  return false;
}

/** CCXT's own methods that call the ones of this package. */
const BUILT_ON =
  /^create(?:Limit|Market|PostOnly|ReduceOnly|Stop|TakeProfit|Trigger|OrderWith)|^fetchL2OrderBook$|^fetch(?:Mark|Index)OHLCV$/;
const NOT_METHODS =
  /^(?:CORS|ws|swap|spot|margin|future|option|index|sandbox|publicAPI|privateAPI)$/;

test("every capability is a method of this package, or one of CCXT's that calls it", () => {
  const named = Object.entries(exchange.has).filter(
    ([name, has]) => has && !NOT_METHODS.test(name),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(([name]) => !isOwn(name) && !BUILT_ON.test(name))).toEqual([]);
});

test("every method of this package that CCXT knows is named", () => {
  const known = Object.keys(exchange.has);
  // Known once currencies are loaded.
  const unnamed = known.filter((name) => isOwn(name) && !exchange.has[name]);
  expect(unnamed).toEqual(["fetchDepositAddress", "withdraw"]);
});

test("an instance without a configuration: id, time frames, credentials, features", () => {
  expect(exchange).toMatchObject({ id: "perpgate", name: "Perpgate", pro: true, dex: true });
  expect(Object.keys(exchange.timeframes)).toEqual(["1m", "5m", "15m", "1h", "4h", "1d"]);
  expect(exchange.requiredCredentials).toMatchObject({ privateKey: true, apiKey: false });
  expect(exchange.features.swap?.linear.createOrder).toMatchObject({ stopLossPrice: true });
  expect(exchange.publicGetV1MarketsSymbolBook).toBeTypeOf("function");
});

const { maker, newExchange } = await live();
const trader = newExchange();

/** A resting order far from the market. */
async function resting(): Promise<string> {
  const { id = "" } = await trader.createOrder(SYMBOL, "limit", "buy", 0.001, 60_000);
  return id;
}

const BID = { symbol: SYMBOL, type: "limit", side: "buy", amount: 0.001, price: 60_000 } as const;

/** The calls that create one order, with their arguments; each has a version with the suffix `Ws`. */
const CREATES: Readonly<Record<string, readonly unknown[]>> = {
  createMarketBuyOrder: [SYMBOL, 0.01],
  createMarketSellOrder: [SYMBOL, 0.001],
  createMarketOrder: [SYMBOL, "buy", 0.001],
  createLimitBuyOrder: [SYMBOL, 0.001, 60_000],
  createLimitSellOrder: [SYMBOL, 0.001, 70_000],
  createLimitOrder: [SYMBOL, "buy", 0.001, 60_000],
  createOrder: [SYMBOL, "limit", "buy", 0.001, 60_000],
  createPostOnlyOrder: [SYMBOL, "limit", "buy", 0.001, 60_000],
  createReduceOnlyOrder: [SYMBOL, "limit", "sell", 0.001, 70_000],
  createTriggerOrder: [SYMBOL, "market", "buy", 0.001, undefined, 66_000],
  createStopOrder: [SYMBOL, "market", "buy", 0.001, undefined, 66_000],
  createStopLimitOrder: [SYMBOL, "buy", 0.001, 66_100, 66_000],
  createStopMarketOrder: [SYMBOL, "buy", 0.001, 66_000],
  createStopLossOrder: [SYMBOL, "market", "sell", 0.001, undefined, 62_000],
  createTakeProfitOrder: [SYMBOL, "market", "sell", 0.001, undefined, 70_000],
  createOrderWithTakeProfitAndStopLoss: [SYMBOL, "market", "buy", 0.001, undefined, 70_000, 61_000],
};

async function called(name: string, args: readonly unknown[]): Promise<unknown> {
  return Reflect.apply(Reflect.get(trader, name), trader, args);
}

function createCalls(suffix: "" | "Ws"): Record<string, () => Promise<unknown>> {
  const calls = Object.entries(CREATES).map(([name, args]) => {
    const call = async () => {
      const order = await called(`${name}${suffix}`, args);
      expectOrder(trader, order);
      return order;
    };
    return [`${name}${suffix}`, call] as const;
  });
  return Object.fromEntries(calls);
}

/** A call for every capability, in an order in which each finds what it needs. */
const CALLS: Readonly<Record<string, () => Promise<unknown>>> = {
  signIn: () => trader.signIn(),
  fetchTime: () => trader.fetchTime(),
  fetchStatus: () => trader.fetchStatus(),
  fetchMarkets: () => trader.fetchMarkets(),
  fetchCurrencies: () => trader.fetchCurrencies(),
  fetchTicker: () => trader.fetchTicker(SYMBOL),
  fetchTickers: () => trader.fetchTickers(),
  fetchBidsAsks: () => trader.fetchBidsAsks(),
  fetchLastPrices: () => trader.fetchLastPrices(),
  fetchMarkPrice: () => trader.fetchMarkPrice(SYMBOL),
  fetchMarkPrices: () => trader.fetchMarkPrices(),
  fetchOrderBook: () => trader.fetchOrderBook(SYMBOL),
  fetchL2OrderBook: () => trader.fetchL2OrderBook(SYMBOL),
  fetchTrades: () => trader.fetchTrades(SYMBOL),
  fetchOHLCV: () => trader.fetchOHLCV(SYMBOL),
  fetchMarkOHLCV: () => trader.fetchMarkOHLCV(SYMBOL),
  fetchIndexOHLCV: () => trader.fetchIndexOHLCV(SYMBOL),
  fetchFundingRate: () => trader.fetchFundingRate(SYMBOL),
  fetchFundingRates: () => trader.fetchFundingRates(),
  fetchFundingInterval: () => trader.fetchFundingInterval(SYMBOL),
  fetchFundingIntervals: () => trader.fetchFundingIntervals(),
  fetchFundingRateHistory: () => trader.fetchFundingRateHistory(SYMBOL),
  fetchOpenInterest: () => trader.fetchOpenInterest(SYMBOL),
  fetchOpenInterests: () => trader.fetchOpenInterests(),
  fetchLeverageTiers: () => trader.fetchLeverageTiers(),
  fetchMarketLeverageTiers: () => trader.fetchMarketLeverageTiers(SYMBOL),
  fetchTradingFee: () => trader.fetchTradingFee(SYMBOL),
  fetchTradingFees: () => trader.fetchTradingFees(),
  fetchBalance: () => trader.fetchBalance(),
  fetchLedger: () => trader.fetchLedger(),
  fetchDeposits: () => trader.fetchDeposits(),
  fetchWithdrawals: () => trader.fetchWithdrawals(),
  fetchFundingHistory: () => trader.fetchFundingHistory(),
  setLeverage: () => trader.setLeverage(5, SYMBOL),
  fetchLeverage: () => trader.fetchLeverage(SYMBOL),
  fetchMarginMode: () => trader.fetchMarginMode(SYMBOL),
  fetchPositionMode: () => trader.fetchPositionMode(),
  setMarginMode: () => trader.setMarginMode("isolated", SYMBOL),
  setPositionMode: () => trader.setPositionMode(false),
  ...createCalls(""),
  createOrders: () => trader.createOrders([BID]),
  createOrdersWs: () => trader.createOrdersWs([BID]),
  editOrder: async () => trader.editOrder(await resting(), SYMBOL, "limit", "buy", 0.002),
  editOrderWs: async () => trader.editOrderWs(await resting(), SYMBOL, "limit", "buy", 0.002),
  editOrders: async () => trader.editOrders([{ ...BID, id: await resting(), amount: 0.002 }]),
  cancelOrder: async () => trader.cancelOrder(await resting(), SYMBOL),
  cancelOrderWs: async () => trader.cancelOrderWs(await resting(), SYMBOL),
  cancelOrders: async () => trader.cancelOrders([await resting()], SYMBOL),
  cancelOrdersWs: async () => trader.cancelOrdersWs([await resting()], SYMBOL),
  fetchOrder: async () => trader.fetchOrder(await resting()),
  fetchOpenOrder: async () => trader.fetchOpenOrder(await resting()),
  fetchOrderTrades: async () => trader.fetchOrderTrades(await resting()),
  fetchOrders: () => trader.fetchOrders(),
  fetchOpenOrders: () => trader.fetchOpenOrders(),
  fetchClosedOrders: () => trader.fetchClosedOrders(),
  fetchCanceledOrders: () => trader.fetchCanceledOrders(),
  fetchCanceledAndClosedOrders: () => trader.fetchCanceledAndClosedOrders(),
  fetchMyTrades: () => trader.fetchMyTrades(),
  fetchMyLiquidations: () => trader.fetchMyLiquidations(),
  fetchPosition: () => trader.fetchPosition(SYMBOL),
  fetchPositions: () => trader.fetchPositions(),
  addMargin: () => trader.addMargin(SYMBOL, 5),
  reduceMargin: () => trader.reduceMargin(SYMBOL, 1),
  setMargin: () => trader.setMargin(SYMBOL, 300),
  cancelAllOrdersAfter: () => trader.cancelAllOrdersAfter(0),
  cancelAllOrders: () => trader.cancelAllOrders(),
  ...createCalls("Ws"),
  cancelAllOrdersWs: () => trader.cancelAllOrdersWs(),
  closePosition: () => trader.closePosition(SYMBOL),
};

const WATCHES: Readonly<Record<string, readonly unknown[]>> = {
  OrderBook: [SYMBOL],
  Ticker: [SYMBOL],
  Tickers: [],
  Trades: [SYMBOL],
  OHLCV: [SYMBOL, "1m"],
  Orders: [SYMBOL],
  MyTrades: [SYMBOL],
  Positions: [],
  Balance: [],
};

test("every capability works on a live venue", async () => {
  await quote(maker);
  const named = Object.entries(exchange.has).filter(
    ([name, has]) => has && !NOT_METHODS.test(name),
  );
  const watches = Object.keys(WATCHES).flatMap((name) => [`watch${name}`, `unWatch${name}`]);
  expect(named.map(([name]) => name).sort()).toEqual([...Object.keys(CALLS), ...watches].sort());
  for (const [name, call] of Object.entries(CALLS)) {
    const answer = await call().catch((error: unknown) => error);
    expect(answer, name).toBeTypeOf(name === "fetchTime" ? "number" : "object");
    expect(answer, `${name}: ${answer}`).not.toBeInstanceOf(Error);
  }
  // A venue with test money has no vault; see account-data.test.ts for one that has.
  expect(trader.has.fetchDepositAddress).toBe(false);
  expect(trader.has.withdraw).toBe(false);
  await expect(trader.fetchDepositAddress("USDC")).rejects.toThrow(/no vault .*registerDeposit/);
  const loops = Object.entries(WATCHES).map(async ([name, args]) => {
    for (;;) await called(`watch${name}`, args);
  });
  const ended = loops.map((loop) => expect(loop).rejects.toThrow(errors.UnsubscribeError));
  // The last to be subscribed of each socket: by then the others are.
  await Promise.all([trader.watchBalance(), trader.watchOHLCV(SYMBOL, "5m")]);
  for (const [name, args] of Object.entries(WATCHES)) await called(`unWatch${name}`, args);
  await Promise.all(ended);
});
