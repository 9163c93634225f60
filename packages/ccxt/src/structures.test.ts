/** The structures of CCXT's reads, on a live venue: what CCXT's own tests of them check. */

import { errors } from "ccxt";
import { expect, test } from "vitest";
import {
  expectAscending,
  expectBalance,
  expectCurrency,
  expectLedgerEntry,
  expectMarket,
  expectPosition,
  expectShape,
  expectTicker,
  expectTrade,
  expectTransaction,
} from "./testing/structure.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
await quote(maker);
const exchange = newExchange();
await exchange.loadMarkets();
// Trades at two times, a position, and a funding hour.
await exchange.setLeverage(5, SYMBOL);
await exchange.createOrder(SYMBOL, "market", "buy", 0.03);
await venue.advance(120_000);
await venue.setIndex("BTCUSD", 65_000);
await exchange.createOrder(SYMBOL, "market", "sell", 0.01, undefined, { reduceOnly: true });
const tradedAt = venue.nowMs();

test("markets: linear perpetual swaps with precision by tick, limits and margin modes", () => {
  expect(exchange.symbols).toEqual(["BTC/USD:USD", "ETH/USD:USD", "SOL/USD:USD"]);
  for (const market of Object.values(exchange.markets ?? {})) expectMarket(exchange, market);
  const market = exchange.market(SYMBOL);
  expect(market.marginModes).toEqual({ cross: false, isolated: true });
  expect(market.precision).toMatchObject({ amount: 0.00001, price: 0.1 });
  expect(market.limits).toMatchObject({
    leverage: { min: 1, max: 50 },
    amount: { min: 0.00001 },
    cost: { min: 1 },
  });
  expect(exchange.amountToPrecision(SYMBOL, 0.0123456)).toBe("0.01234");
  expect(exchange.priceToPrecision(SYMBOL, 65_000.07)).toBe("65000.1");
});

test("currencies: every code with deposit, withdraw, precision and limits", async () => {
  const currencies = await exchange.fetchCurrencies();
  expect(Object.keys(currencies)).toEqual(["BTC", "ETH", "SOL", "USDC", "USDT", "USD"]);
  for (const currency of Object.values(currencies)) expectCurrency(exchange, currency);
});

test("tickers: prices in order, volumes in base and quote, the sizes at bid and ask", async () => {
  const ticker = await exchange.fetchTicker(SYMBOL);
  expectTicker(ticker, true);
  expect(ticker).toMatchObject({
    symbol: SYMBOL,
    last: 64_900,
    bid: 64_900,
    bidVolume: 0.39,
    ask: 65_100,
    askVolume: 0.37,
    baseVolume: 0.04,
    quoteVolume: 2_602,
    vwap: 65_050,
  });
  const all = await exchange.fetchTickers();
  expect(Object.keys(all).sort()).toEqual(exchange.symbols);
  for (const one of Object.values(all)) expectTicker(one);
  expect(Object.keys(await exchange.fetchTickers([SYMBOL]))).toEqual([SYMBOL]);
  const quoted = await exchange.fetchBidsAsks([SYMBOL]);
  expectTicker(quoted[SYMBOL], true);
  const unquoted = (await exchange.fetchBidsAsks())["ETH/USD:USD"];
  expect(unquoted).toMatchObject({ bid: undefined, bidVolume: undefined, quoteVolume: 0 });
  expect((await exchange.fetchLastPrices())[SYMBOL]).toMatchObject({ price: 64_900 });
  expect((await exchange.fetchMarkPrice(SYMBOL)).markPrice).toBeGreaterThan(0);
});

test("order book: best first, bids below asks, depth by limit", async () => {
  const book = await exchange.fetchOrderBook(SYMBOL, 5);
  expectShape(book, {
    needed: {
      bids: "object",
      asks: "object",
      symbol: "string",
      timestamp: "number",
      datetime: "string",
      nonce: "number",
    },
  });
  expect(book.bids[0]).toEqual([64_900, 0.39]);
  expect(book.asks[0]).toEqual([65_100, 0.37]);
  expect((await exchange.fetchL2OrderBook(SYMBOL)).bids).toEqual(book.bids);
});

test("trades: oldest first, by time, with cost", async () => {
  const trades = await exchange.fetchTrades(SYMBOL);
  for (const trade of trades) expectTrade(exchange, trade);
  expectAscending(trades);
  expect(trades.map(({ side, amount, cost }) => [side, amount, cost])).toEqual([
    ["buy", 0.03, 1_953],
    ["sell", 0.01, 649],
  ]);
  expect(await exchange.fetchTrades(SYMBOL, tradedAt)).toHaveLength(1);
  expect(await exchange.fetchTrades(SYMBOL, undefined, 1)).toMatchObject([{ side: "sell" }]);
  expect(await exchange.fetchTrades(SYMBOL, 1, 1)).toMatchObject([{ side: "buy" }]);
  expect(await exchange.fetchTrades(SYMBOL, 1, 9, { until: tradedAt - 1 })).toHaveLength(1);
});

test("candles: oldest first, on whole minutes, high and low around open and close", async () => {
  const candles = await exchange.fetchOHLCV(SYMBOL, "1m");
  expect(candles.length).toBeGreaterThanOrEqual(2);
  for (const [time = 0, open = 0, high = 0, low = 0, close = 0, volume = -1] of candles) {
    expect(time % 60_000).toBe(0);
    expect(high).toBeGreaterThanOrEqual(Math.max(open, close));
    expect(low).toBeLessThanOrEqual(Math.min(open, close));
    expect(volume).toBeGreaterThanOrEqual(0);
  }
  const [first, ...others] = candles.map(([time]) => time ?? 0);
  expect(others.every((time, at) => time > (candles[at]?.[0] ?? 0))).toBe(true);
  expect((await exchange.fetchOHLCV(SYMBOL, "1m", first, 1)).map(([time]) => time)).toEqual([
    first,
  ]);
  expect(await exchange.fetchOHLCV(SYMBOL, "1h", undefined, 1)).toHaveLength(1);
  await expect(exchange.fetchOHLCV(SYMBOL, "3m")).rejects.toThrow(/time frames/);
  const ofPremium = exchange.fetchPremiumIndexOHLCV(SYMBOL);
  await expect(ofPremium).rejects.toThrow(errors.NotSupported);
});

test("candles of the mark and the index: their own prices, without volume", async () => {
  const { mark, index } = await exchange.fetchMarkPrice(SYMBOL).then(({ info }) => info);
  for (const [candles, price] of [
    [await exchange.fetchMarkOHLCV(SYMBOL, "1d"), mark],
    [await exchange.fetchIndexOHLCV(SYMBOL, "1d"), index],
    [await exchange.fetchOHLCV(SYMBOL, "1d", undefined, 1, { price: "index" }), index],
  ] as const) {
    expect(candles.at(-1)?.slice(4)).toEqual([price, 0]);
  }
  const ofLast = exchange.fetchOHLCV(SYMBOL, "1m", undefined, 1, { price: "last" });
  await expect(ofLast).rejects.toThrow(/trades, mark and index, not last/);
});

test("since 0: from the beginning", async () => {
  expect(await exchange.fetchOHLCV(SYMBOL, "1m", 0)).toEqual(await exchange.fetchOHLCV(SYMBOL));
  expect(await exchange.fetchFundingRateHistory(SYMBOL, 0)).toEqual([]);
});

test("fetchTradingFee as the first call: loads the markets", async () => {
  expect(await newExchange().fetchTradingFee(SYMBOL)).toMatchObject({ symbol: SYMBOL });
});

test("funding, open interest, tiers and fees", async () => {
  const rate = await exchange.fetchFundingRate(SYMBOL);
  expectShape(rate, {
    needed: {
      info: "object",
      symbol: "string",
      timestamp: "number",
      datetime: "string",
      fundingRate: "number",
      fundingTimestamp: "number",
      fundingDatetime: "string",
      interval: "string",
    },
    optional: { markPrice: "number", indexPrice: "number", nextFundingRate: "number" },
  });
  expect(Object.keys(await exchange.fetchFundingRates([SYMBOL]))).toEqual([SYMBOL]);
  expect(await exchange.fetchOpenInterest(SYMBOL)).toMatchObject({ openInterestAmount: 0.02 });
  const tiers = await exchange.fetchLeverageTiers();
  expect(Object.keys(tiers).sort()).toEqual(exchange.symbols);
  const [lowest, second] = await exchange.fetchMarketLeverageTiers(SYMBOL);
  const dollars = { symbol: SYMBOL, currency: "USD" };
  expect(lowest).toMatchObject({
    ...dollars,
    tier: 1,
    minNotional: 0,
    maxNotional: 1e6,
    maxLeverage: 50,
  });
  expect(second).toMatchObject({ tier: 2, minNotional: 1e6, maintenanceMarginRate: 0.02 });
  expect(await exchange.fetchTradingFee(SYMBOL)).toMatchObject({ maker: 0.0002, taker: 0.0005 });
});

test("status and time", async () => {
  expect(await exchange.fetchTime()).toBe(venue.nowMs());
  expect(await exchange.fetchStatus()).toMatchObject({ status: "ok", updated: venue.nowMs() });
});

test("balance: free and used add up to total", async () => {
  const balance = await exchange.fetchBalance();
  const { free = 0, used = 0 } = balance.USD ?? {};
  expectBalance(exchange, balance);
  expect(used).toBeGreaterThan(0);
  expect(balance.free).toEqual({ USD: free });
});

test("positions: every field, with maintenance from the tiers", async () => {
  const positions = await exchange.fetchPositions();
  expect(positions).toHaveLength(1);
  const [position] = positions;
  expectPosition(position);
  expect(position).toMatchObject({
    symbol: SYMBOL,
    side: "long",
    contracts: 0.02,
    contractSize: 1,
    entryPrice: 65_100,
    marginMode: "isolated",
  });
  expect(position?.maintenanceMargin).toBeCloseTo((position?.notional ?? 0) * 0.01, 6);
  expect(await exchange.fetchPosition(SYMBOL)).toMatchObject({ contracts: 0.02 });
  expect(await exchange.fetchPositions(["ETH/USD:USD"])).toEqual([]);
  expect(await exchange.fetchPosition("ETH/USD:USD")).toMatchObject({ contracts: 0 });
});

test("my trades: with order, fee and liquidity", async () => {
  const trades = await exchange.fetchMyTrades(SYMBOL);
  for (const trade of trades) {
    expectTrade(exchange, trade);
    expect(trade).toMatchObject({ takerOrMaker: "taker", fee: { currency: "USD" } });
  }
  expectAscending(trades);
  expect(await exchange.fetchMyTrades(undefined, tradedAt)).toHaveLength(1);
  const [first] = trades;
  expect(await exchange.fetchOrderTrades(first?.order ?? "", SYMBOL)).toEqual([first]);
  expect(await exchange.fetchMyLiquidations(SYMBOL)).toEqual([]);
});

test("ledger: amounts without sign that lead from before to after", async () => {
  const entries = await exchange.fetchLedger();
  expectAscending(entries);
  for (const entry of entries) expectLedgerEntry(exchange, entry);
  expect(new Set(entries.map(({ type }) => type))).toEqual(new Set(["cashback", "fee", "trade"]));
  expect(entries[0]).toMatchObject({ type: "cashback", amount: 10_000, direction: "in" });
  expect(await exchange.fetchLedger("USD", undefined, 2)).toEqual(entries.slice(-2));
});

test("deposits: pending, then credited, in a currency that the exchange knows", async () => {
  const txid = `0x${"ab".repeat(32)}`;
  const deposit = await exchange.registerDeposit("USDC", txid, { network: "ARBONE" });
  const registeredAt = venue.nowMs();
  expectTransaction(exchange, deposit);
  expect(deposit).toMatchObject({ txid, status: "pending", timestamp: registeredAt, amount: 0 });
  await venue.advance(1_000);
  const [credited] = await exchange.fetchDeposits("USDC");
  expectTransaction(exchange, credited);
  expect(credited).toMatchObject({
    txid,
    network: "ARBONE",
    type: "deposit",
    currency: "USDC",
    amount: 10_000,
    status: "ok",
    timestamp: registeredAt,
  });
  expect(credited?.updated).toBeGreaterThan(registeredAt);
  expect(await exchange.fetchDeposits("USDT")).toEqual([]);
  expect((await exchange.fetchLedger()).at(-1)).toMatchObject({
    type: "transaction",
    referenceId: deposit.id,
  });
});

test("funding payments and past rates: lists, empty within the first hour", async () => {
  expect(await exchange.fetchFundingHistory(SYMBOL)).toEqual([]);
  expect(await exchange.fetchFundingRateHistory(SYMBOL, 1, 10)).toEqual([]);
  const time = venue.nowMs();
  const paid = { id: "48213-7", symbol: "BTCUSD", amount: -0.25, accrued: false, time };
  expectShape(exchange.parseIncome(paid), {
    needed: {
      info: "object",
      id: "string",
      symbol: "string",
      code: "string",
      timestamp: "number",
      datetime: "string",
      amount: "number",
    },
  });
  const point = { time, rate: 0.0000125, markPrice: 65_000 };
  const rate = exchange.parseFundingRateHistory(point, exchange.market(SYMBOL));
  expect(rate).toMatchObject({ symbol: SYMBOL, fundingRate: 0.0000125, timestamp: time });
});
