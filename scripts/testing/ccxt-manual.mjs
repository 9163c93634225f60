/**
 * What CCXT's manual shows, with the class name of this venue: order books, candles, orders that are
 * created, edited and canceled, positions, and watch loops. Runs where the packages are installed, with
 * the user's own copy of `ccxt`, whose exceptions must be the ones that are thrown.
 */

import { perpgate } from "@perpgate/ccxt";
import * as ccxt from "ccxt";

const exchange = new perpgate({
  privateKey: process.env.PRIVATE_KEY,
  urls: { api: "http://127.0.0.1:8080" },
});
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function marketData() {
  await exchange.loadMarkets();
  for (const symbol of exchange.symbols) {
    const book = await exchange.fetchOrderBook(symbol);
    const bid = book.bids.length ? book.bids[0][0] : undefined;
    const ask = book.asks.length ? book.asks[0][0] : undefined;
    const spread = bid && ask ? ask - bid : undefined;
    console.log("book", exchange.id, symbol, { bid, ask, spread });
  }
  if (exchange.has.fetchOHLCV) {
    for (const symbol of exchange.symbols) {
      await sleep(exchange.rateLimit);
      const candles = await exchange.fetchOHLCV(symbol, Object.keys(exchange.timeframes)[0]);
      console.log("candles", symbol, candles.length, candles.at(-1)?.length);
    }
  }
}

async function orders(symbol) {
  const order = await exchange.createLimitBuyOrder(symbol, 0.01, 60_000);
  console.log("created", order.status, order.side, order.price, order.amount);
  const edited = await exchange.editLimitBuyOrder(order.id, symbol, 0.02, 60_500);
  console.log("edited", edited.status, edited.price, edited.amount);
  const [open] = await exchange.fetchOpenOrders(symbol);
  console.log("open", open.id === order.id, open.remaining);
  await exchange.cancelOrder(order.id, symbol);
  const { status } = await exchange.fetchOrder(order.id, symbol);
  console.log("after the cancel", status);
  await exchange.createMarketBuyOrder(symbol, 0.01);
  const [position] = await exchange.fetchPositions([symbol]);
  console.log("position", position.side, position.contracts, position.entryPrice);
  await exchange.createOrder(symbol, "market", "sell", position.contracts, undefined, {
    reduceOnly: true,
  });
  console.log("positions", (await exchange.fetchPositions()).length);
  return order.id;
}

/** The manual's order: what the network may cause first, then what the exchange refuses. */
async function attempt(call) {
  try {
    await call();
    console.log("no error");
  } catch (error) {
    if (error instanceof ccxt.NetworkError) console.log("network", error.constructor.name);
    else if (error instanceof ccxt.ExchangeError) console.log("refused", error.constructor.name);
    else throw error;
  }
}

async function failures(symbol, canceled) {
  await attempt(() => exchange.cancelOrder(canceled, symbol));
  await attempt(() => exchange.fetchTicker("NO/USD:USD"));
  await attempt(() => exchange.createLimitBuyOrder(symbol, 10, 60_000));
  await attempt(() => exchange.createLimitBuyOrder(symbol, 0.01, 99_999));
  const elsewhere = new perpgate({ urls: { api: "http://127.0.0.1:9" } });
  await attempt(() => elsewhere.fetchTime());
}

/** A loop as in the manual, until `times` updates. */
async function loop(name, times, ...args) {
  if (!exchange.has[name]) throw new Error(`${name} is not offered`);
  for (let seen = 0; seen < times; ) {
    try {
      const update = await exchange[name](...args);
      seen++;
      if (seen === times) console.log(name, Array.isArray(update) ? update.length : "one");
    } catch (error) {
      console.log(error);
    }
  }
}

async function watches(symbol) {
  const loops = [
    loop("watchTrades", 1, symbol),
    loop("watchOHLCV", 1, symbol, "1m"),
    loop("watchOrderBook", 2, symbol, 5),
    loop("watchTicker", 1, symbol),
    loop("watchOrders", 1, symbol),
    loop("watchMyTrades", 1, symbol),
    loop("watchPositions", 1),
    loop("watchBalance", 2),
  ];
  let isOver = false;
  const watched = Promise.all(loops).then(() => {
    isOver = true;
  });
  // Until every loop has seen something, however long its subscription takes.
  while (!isOver) {
    await exchange.createOrder(symbol, "market", "buy", 0.001);
    await exchange.createOrder(symbol, "market", "sell", 0.001, undefined, { reduceOnly: true });
  }
  await watched;
}

const symbol = "BTC/USD:USD";
await marketData();
const canceled = await orders(symbol);
await failures(symbol, canceled);
await watches(symbol);
await exchange.close();
