/** What the class says of itself: capabilities, addresses, time frames, features. */

import { RESOLUTIONS } from "@perpgate/protocol/core";
import { type Access, OPERATIONS } from "@perpgate/protocol/operations";
import { functions } from "ccxt";
import { EXCEPTIONS } from "./exceptions.js";

/** Each has a version over the socket, with the suffix `Ws`. */
const ORDER_CALLS = {
  cancelAllOrders: true,
  cancelOrders: true,
  cancelOrder: true,
  createLimitBuyOrder: true,
  createLimitOrder: true,
  createLimitSellOrder: true,
  createMarketBuyOrder: true,
  createMarketOrder: true,
  createMarketSellOrder: true,
  createOrder: true,
  createOrders: true,
  createOrderWithTakeProfitAndStopLoss: true,
  createPostOnlyOrder: true,
  createReduceOnlyOrder: true,
  createStopLimitOrder: true,
  createStopLossOrder: true,
  createStopMarketOrder: true,
  createStopOrder: true,
  createTakeProfitOrder: true,
  createTriggerOrder: true,
  editOrder: true,
};

/** Every method that works; `emulated`: the venue has no such call, and the class does it with others. */
const HAS = {
  CORS: true,
  spot: false,
  margin: false,
  swap: true,
  future: false,
  option: false,
  addMargin: true,
  cancelAllOrdersAfter: true,
  closePosition: true,
  editOrders: true,
  fetchBalance: true,
  fetchBidsAsks: true,
  fetchCanceledAndClosedOrders: true,
  fetchCanceledOrders: true,
  fetchClosedOrders: true,
  fetchCurrencies: true,
  // True once the venue is known to have a vault; see `fetchCurrencies`.
  fetchDepositAddress: false,
  fetchDeposits: true,
  fetchFundingHistory: true,
  fetchFundingInterval: true,
  fetchFundingIntervals: true,
  fetchFundingRate: true,
  fetchFundingRateHistory: true,
  fetchFundingRates: true,
  fetchIndexOHLCV: true,
  fetchL2OrderBook: true,
  fetchLastPrices: true,
  fetchLedger: true,
  fetchLeverage: "emulated",
  fetchLeverageTiers: true,
  fetchMarginMode: "emulated",
  fetchMarketLeverageTiers: true,
  fetchMarkets: true,
  fetchMarkOHLCV: true,
  fetchMarkPrice: true,
  fetchMarkPrices: true,
  fetchMyLiquidations: true,
  fetchMyTrades: true,
  fetchOHLCV: true,
  fetchOpenInterest: true,
  fetchOpenInterests: true,
  fetchOpenOrder: true,
  fetchOpenOrders: true,
  fetchOrder: true,
  fetchOrderBook: true,
  fetchOrders: true,
  fetchOrderTrades: true,
  fetchPosition: true,
  fetchPositionMode: "emulated",
  fetchPositions: true,
  fetchStatus: true,
  fetchTicker: true,
  fetchTickers: true,
  fetchTime: true,
  fetchTrades: true,
  fetchTradingFee: true,
  fetchTradingFees: true,
  fetchWithdrawals: true,
  reduceMargin: true,
  sandbox: true,
  setLeverage: "emulated",
  setMargin: true,
  setMarginMode: "emulated",
  setPositionMode: "emulated",
  signIn: true,
  transfer: false,
  unWatchBalance: true,
  unWatchMyTrades: true,
  unWatchOHLCV: true,
  unWatchOrderBook: true,
  unWatchOrders: true,
  unWatchPositions: true,
  unWatchTicker: true,
  unWatchTickers: true,
  unWatchTrades: true,
  watchBalance: true,
  watchMyTrades: true,
  watchOHLCV: true,
  watchOrderBook: true,
  watchOrders: true,
  watchPositions: true,
  watchTicker: true,
  watchTickers: true,
  watchTrades: true,
  // True once the venue is known to take withdrawals; see `fetchCurrencies`.
  withdraw: false,
  ws: true,
  ...ORDER_CALLS,
  ...Object.fromEntries(Object.entries(ORDER_CALLS).map(([name, has]) => [`${name}Ws`, has])),
  // A default of the base class that does not hold here.
  fetchCurrenciesWs: false,
};

const LISTS = { marginMode: false, trigger: false, trailing: false, symbolRequired: false };
const WHOLE_HISTORY = { daysBack: undefined, untilDays: undefined };
const MARK_ONLY = { last: false, mark: true, index: false };

const FEATURES = {
  sandbox: true,
  createOrder: {
    marginMode: false,
    triggerPrice: true,
    triggerPriceType: MARK_ONLY,
    triggerDirection: true,
    stopLossPrice: true,
    takeProfitPrice: true,
    attachedStopLossTakeProfit: { triggerPriceType: MARK_ONLY, price: true },
    timeInForce: { IOC: true, FOK: true, PO: true, GTD: true },
    hedged: false,
    trailing: false,
    leverage: true,
    marketBuyRequiresPrice: false,
    marketBuyByCost: false,
    selfTradePrevention: true,
    iceberg: false,
  },
  createOrders: { max: 50 },
  fetchMyTrades: { ...LISTS, ...WHOLE_HISTORY, limit: 1_000 },
  fetchOrder: LISTS,
  fetchOpenOrders: { ...LISTS, limit: undefined },
  fetchOrders: { ...LISTS, ...WHOLE_HISTORY, limit: 1_000 },
  fetchClosedOrders: {
    ...LISTS,
    daysBack: undefined,
    daysBackCanceled: undefined,
    untilDays: undefined,
    limit: 1_000,
  },
  fetchOHLCV: { limit: 1_000 },
};

/** Every read of the venue is also an implicit method, such as `publicGetV1Markets`. */
function implicitReads(access: Access): Record<string, number> {
  const reads = OPERATIONS.filter(
    (operation) => operation.method === "GET" && operation.access === access,
  );
  return Object.fromEntries(reads.map(({ path }) => [path.slice(1), 1]));
}

export const LOCAL_URL = "http://127.0.0.1:8080";

export const DESCRIPTION = {
  id: "perpgate",
  name: "Perpgate",
  countries: [],
  version: "v1",
  // The venue's default limit of public reads is 100 a second.
  rateLimit: 10,
  certified: false,
  pro: true,
  dex: true,
  has: HAS,
  timeframes: Object.fromEntries(RESOLUTIONS.map((resolution) => [resolution, resolution])),
  urls: {
    // An address here could not be distinguished from one that a program has set.
    api: {},
    // A venue that you run yourself; no public one is known to this package.
    test: LOCAL_URL,
    doc: `${LOCAL_URL}/docs`,
  },
  api: {
    public: { get: implicitReads("public") },
    private: { get: implicitReads("bearer") },
  },
  requiredCredentials: {
    apiKey: false,
    secret: false,
    privateKey: true,
    walletAddress: false,
  },
  fees: { trading: { tierBased: false, percentage: true, feeSide: "quote" } },
  features: {
    spot: undefined,
    swap: { linear: FEATURES, inverse: undefined },
    future: { linear: undefined, inverse: undefined },
  },
  exceptions: { exact: EXCEPTIONS, broad: {} },
  precisionMode: functions.TICK_SIZE,
  // Numbers of the venue are exact as JSON numbers.
  quoteJsonNumbers: false,
  options: {
    /** Leverage of orders in markets without `setLeverage`. */
    defaultLeverage: 1,
    /** Entries that watched lists keep. */
    tradesLimit: 1_000,
    ordersLimit: 1_000,
    OHLCVLimit: 1_000,
  },
};
