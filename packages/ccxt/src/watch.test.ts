/** CCXT's watch loops, on a live venue. */

import { CuttingProxy, runVenue, startAheadOfClients } from "@perpgate/gateway/testing";
import { errors } from "ccxt";
import { expect, test } from "vitest";
import { expectOrder, expectPosition, expectTicker, expectTrade } from "./testing/structure.js";
import { live, quote, SYMBOL } from "./testing/venue.js";

const { venue, maker, newExchange } = await live();
const exchange = newExchange();
await exchange.loadMarkets();
await quote(maker);

test("watchOrderBook: a loop sees the book as it changes, with a limit", async () => {
  const first = await exchange.watchOrderBook(SYMBOL);
  expect(first).toMatchObject({ symbol: SYMBOL, bids: [[64_900, 0.4]], asks: [[65_100, 0.4]] });
  const terms = { symbol: "BTCUSD", type: "limit", size: 0.1, leverage: 10 } as const;
  await maker.placeOrder({ ...terms, side: "long", price: 64_950 });
  let book = await exchange.watchOrderBook(SYMBOL, 1);
  while (book.bids[0]?.[0] !== 64_950) book = await exchange.watchOrderBook(SYMBOL, 1);
  expect(book.bids).toEqual([[64_950, 0.1]]);
  expect(book.nonce).toBeGreaterThan(first.nonce ?? 0);
});

test("watchTicker, watchTrades and watchOHLCV: every trade once, candles as they form", async () => {
  const trades = exchange.watchTrades(SYMBOL);
  const candles = exchange.watchOHLCV(SYMBOL, "1m");
  // Subscribed last, on the same socket: once it is there, so are the others.
  const ticker = await exchange.watchTicker(SYMBOL);
  expectTicker(ticker, true);
  await exchange.createOrder(SYMBOL, "market", "buy", 0.01);
  const [trade] = await trades;
  expectTrade(exchange, trade);
  expect(trade).toMatchObject({ side: "buy", price: 65_100, amount: 0.01 });
  expect((await candles).at(-1)).toMatchObject({ 4: 65_100 });
  // What comes between two calls is there at the next.
  await exchange.createOrder(SYMBOL, "market", "buy", 0.02);
  await exchange.createOrder(SYMBOL, "market", "buy", 0.03);
  const seen: (number | undefined)[] = [];
  while (seen.length < 2) {
    seen.push(...(await exchange.watchTrades(SYMBOL)).map(({ amount }) => amount));
  }
  expect(seen).toEqual([0.02, 0.03]);
});

test("watchTickers: all markets or some, each call with those that changed", async () => {
  const watcher = newExchange();
  const seen = new Set<string>();
  while (seen.size < 3) {
    const tickers = await watcher.watchTickers();
    for (const [symbol, ticker] of Object.entries(tickers)) {
      expectTicker(ticker);
      expect(ticker.symbol).toBe(symbol);
      seen.add(symbol);
    }
  }
  expect([...seen].sort()).toEqual(watcher.symbols);
  let some = await watcher.watchTickers([SYMBOL]);
  expect(Object.keys(some)).toEqual([SYMBOL]);
  const before = some[SYMBOL]?.baseVolume ?? 0;
  await watcher.createOrder(SYMBOL, "market", "buy", 0.01);
  while ((some[SYMBOL]?.baseVolume ?? 0) === before) some = await watcher.watchTickers([SYMBOL]);
  expect(some[SYMBOL]).toMatchObject({ last: 65_100 });
  const loop = async () => {
    for (;;) await watcher.watchTickers(["SOL/USD:USD", "ETH/USD:USD"]);
  };
  const ended = expect(loop()).rejects.toThrow(errors.UnsubscribeError);
  await new Promise(setImmediate);
  // The same markets in another order.
  await watcher.unWatchTickers(["ETH/USD:USD", "SOL/USD:USD"]);
  await ended;
});

test("the account: orders, trades, positions and balance follow an order", async () => {
  const trader = newExchange();
  const [orders, trades, positions] = [
    trader.watchOrders(SYMBOL),
    trader.watchMyTrades(),
    trader.watchPositions([SYMBOL]),
  ];
  const balance = await trader.watchBalance();
  expect(balance.USD).toEqual({ free: 10_000, used: 0, total: 10_000 });
  const order = await trader.createOrder(SYMBOL, "market", "buy", 0.01, undefined, {
    clientOrderId: "seen",
  });
  const [seen] = await orders;
  expectOrder(trader, seen);
  expect(seen).toMatchObject({
    id: order.id,
    clientOrderId: "seen",
    status: "closed",
    filled: 0.01,
  });
  const [trade] = await trades;
  expectTrade(trader, trade);
  expect(trade).toMatchObject({ order: order.id, takerOrMaker: "taker", fee: { currency: "USD" } });
  const [position] = await positions;
  expectPosition(position);
  expect(position).toMatchObject({ side: "long", contracts: 0.01, entryPrice: 65_100 });
  expect((await trader.watchBalance()).USD?.used).toBeGreaterThan(0);
  await trader.closePosition(SYMBOL);
  let [last] = await trader.watchPositions();
  while (last?.contracts !== 0) [last] = await trader.watchPositions();
  expect(last).toMatchObject({ symbol: SYMBOL, contracts: 0 });
});

test("watchOrders of one market: not those of another; all states of a resting order", async () => {
  const trader = newExchange();
  const watching = trader.watchOrders(SYMBOL);
  await trader.watchBalance();
  const elsewhere = await trader.createOrder("ETH/USD:USD", "limit", "buy", 0.1, 3_000);
  const { id } = await trader.createOrder(SYMBOL, "limit", "buy", 0.01, 60_000);
  let [order] = await watching;
  expect(order).toMatchObject({ id, status: "open" });
  await trader.cancelOrder(id ?? "", SYMBOL);
  while (order?.status !== "canceled") [order] = await trader.watchOrders(SYMBOL);
  expect(order).toMatchObject({ id, symbol: SYMBOL });
  expect(elsewhere.id).not.toBe(id);
});

test("watchPositions of different markets: the loops do not take each other's updates", async () => {
  const ether = "ETH/USD:USD";
  const ask = { symbol: "ETHUSD", side: "short", type: "limit", size: 1, leverage: 10 } as const;
  await maker.placeOrder({ ...ask, price: 3_210 });
  const trader = newExchange();
  const [ofBitcoin, ofEther, ofAll] = [
    trader.watchPositions([SYMBOL]),
    trader.watchPositions([ether]),
    trader.watchPositions(),
  ];
  await trader.watchBalance();
  await trader.createOrder(SYMBOL, "market", "buy", 0.01);
  expect(await ofBitcoin).toMatchObject([{ symbol: SYMBOL, contracts: 0.01 }]);
  expect(await ofAll).toMatchObject([{ symbol: SYMBOL, contracts: 0.01 }]);
  await trader.createOrder(ether, "market", "buy", 0.1);
  expect(await ofEther).toMatchObject([{ symbol: ether, contracts: 0.1 }]);
  expect(await trader.watchPositions()).toMatchObject([{ symbol: ether, contracts: 0.1 }]);
  const next = expect(trader.watchPositions([ether])).rejects.toThrow(errors.UnsubscribeError);
  await new Promise(setImmediate);
  await trader.unWatchPositions([ether]);
  await next;
  const last = expect(trader.watchPositions([SYMBOL])).rejects.toThrow(errors.UnsubscribeError);
  await new Promise(setImmediate);
  await trader.unWatchPositions();
  await last;
});

test("unWatch and close: what waits is rejected, another watch starts again", async () => {
  const watcher = newExchange();
  await watcher.watchTicker(SYMBOL);
  await watcher.unWatchTicker(SYMBOL);
  expect(await watcher.watchTicker(SYMBOL)).toMatchObject({ symbol: SYMBOL });
  // Nobody trades: no update can come before the end.
  const waiting = watcher.watchTrades(SYMBOL);
  await new Promise(setImmediate);
  await watcher.unWatchTrades(SYMBOL);
  await expect(waiting).rejects.toThrow(errors.UnsubscribeError);
  const pending = watcher.watchTrades(SYMBOL);
  await new Promise(setImmediate);
  const closed = expect(pending).rejects.toThrow(errors.ExchangeClosedByUser);
  await watcher.close();
  await closed;
  expect(await watcher.watchOrderBook(SYMBOL)).toMatchObject({ symbol: SYMBOL });
  expect(venue.streamFaults).toEqual([]);
});

test("newUpdates false: the whole list, oldest first", async () => {
  const keeper = newExchange({ options: { newUpdates: false } });
  const first = keeper.watchTrades(SYMBOL);
  await keeper.watchTicker(SYMBOL);
  await keeper.createOrder(SYMBOL, "market", "buy", 0.01);
  await first;
  await keeper.createOrder(SYMBOL, "market", "buy", 0.02);
  let trades = await keeper.watchTrades(SYMBOL);
  while (trades.length < 2) trades = await keeper.watchTrades(SYMBOL);
  expect(trades.map(({ amount }) => amount)).toEqual([0.01, 0.02]);
});

test("a gateway that restarts: loops go on, and nothing of the account is lost", async () => {
  const before = await runVenue({ startMs: startAheadOfClients() });
  const proxy = await CuttingProxy.before(before.url);
  const [trader, other] = [
    newExchange({ urls: { api: proxy.url } }),
    newExchange({ urls: { api: proxy.url } }),
  ];
  const orders = trader.watchOrders(SYMBOL);
  const trades = trader.watchMyTrades(SYMBOL);
  await trader.watchBalance();
  const book = await trader.watchOrderBook(SYMBOL);
  expect(book.bids).toEqual([]);
  const resting = await trader.createOrder(SYMBOL, "limit", "buy", 0.01, 64_000);
  expect(await orders).toMatchObject([{ id: resting.id, status: "open" }]);
  await before.stop();
  await expect(trader.fetchTime()).rejects.toThrow(errors.NetworkError);
  const { directory } = before;
  const after = await runVenue({ directory, startMs: before.nowMs() });
  proxy.leadTo(after.url);
  proxy.cutAll();
  await other.createOrder(SYMBOL, "market", "sell", 0.01);
  expect(await trades).toMatchObject([{ order: resting.id, price: 64_000, amount: 0.01 }]);
  expect(await trader.watchOrders(SYMBOL)).toMatchObject([{ id: resting.id, status: "closed" }]);
  await other.createOrder(SYMBOL, "limit", "buy", 0.01, 63_000);
  let [bid] = (await trader.watchOrderBook(SYMBOL)).bids;
  while (bid?.[0] !== 63_000) [bid] = (await trader.watchOrderBook(SYMBOL)).bids;
  expect(bid).toEqual([63_000, 0.01]);
});
