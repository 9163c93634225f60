import type { Block, Candle, Ticker, Trade, VenueStatus } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { ASK, BUY, eventually, newClient, newSession, startVenue } from "../testing/venue.js";

test("trades, ticker, candles and blocks: the same as REST", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const [maker, taker] = [await newSession(client), await newSession(client)];
  const trades: Trade[] = [];
  const tickers: Ticker[] = [];
  const candles: (readonly Candle[])[] = [];
  const blocks: Block[] = [];
  const statuses: VenueStatus[] = [];
  const watches = [
    client.stream.watchTrades("BTCUSD", (some) => trades.push(...some)),
    client.stream.watchTicker("BTCUSD", (ticker) => tickers.push(ticker)),
    client.stream.watchCandles("BTCUSD", "1m", (some) => candles.push(some)),
    client.stream.watchBlocks((block) => blocks.push(block)),
    client.stream.watchStatus((status) => statuses.push(status)),
  ];
  expect(watches.map(({ stream }) => stream)).toEqual([
    "trades.BTCUSD",
    "ticker.BTCUSD",
    "candles.BTCUSD.1m",
    "blocks",
    "status",
  ]);
  await Promise.all(watches.map(({ ready }) => ready));
  await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });
  const { filledSize } = await taker.placeOrder(BUY);
  await eventually(() => trades).toMatchObject([{ price: 65_010, size: filledSize, side: "long" }]);
  await eventually(() => tickers.at(-1)).toMatchObject({ symbol: "BTCUSD", last: 65_010 });
  await eventually(() => candles.at(-1)?.at(-1)).toMatchObject({ close: 65_010, trades: 1 });
  expect(trades).toEqual(await client.trades("BTCUSD"));
  await at.advance(400);
  await eventually(() => blocks.length).toBeGreaterThan(0);
  expect(await client.block(blocks[0]!.number)).toEqual(blocks[0]);
  expect(statuses).toMatchObject([{ stage: "open", markets: [{ status: "active" }, {}, {}] }]);
  // A later watch gets the state, not past events.
  const late: unknown[] = [];
  client.stream.watchTicker("BTCUSD", (ticker) => late.push(ticker));
  client.stream.watchTrades("BTCUSD", (some) => late.push(some));
  await eventually(() => late).toEqual([tickers.at(-1)]);
  for (const watch of watches) watch.close();
});

test("a callback that throws: an unhandled error, the stream continues", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const thrown: unknown[] = [];
  const caught = (error: unknown) => thrown.push(error);
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", caught);
  try {
    const seen: unknown[] = [];
    client.stream.watchTicker("BTCUSD", () => {
      throw new Error("a bug of the caller");
    });
    client.stream.watchTicker("BTCUSD", (ticker) => seen.push(ticker));
    await eventually(() => [seen.length, thrown.length]).toEqual([1, 1]);
    expect(String(thrown[0])).toContain("a bug of the caller");
    expect(client.stream.state).toBe("open");
  } finally {
    process.off("uncaughtException", caught);
    for (const listener of listeners) process.on("uncaughtException", listener);
  }
});

test("a closed watch: ready rejects, and no callback runs any more", async () => {
  const at = await startVenue();
  const client = newClient(at);
  const early = client.stream.watchTicker("ETHUSD", () => undefined);
  early.close();
  await expect(early.ready).rejects.toMatchObject({ name: "ConnectionError", isFinal: true });

  const seen: string[] = [];
  const first = client.stream.watchBlocks(
    () => {
      seen.push("first");
      second.close();
    },
    { onProblem: () => third.close() },
  );
  const second = client.stream.watchBlocks(() => seen.push("second"));
  const third = client.stream.watchBlocks(() => undefined, { onProblem: () => seen.push("third") });
  await Promise.all([first, second, third].map(({ ready }) => ready));
  await at.advance(200);
  await eventually(() => seen.length).toBeGreaterThan(0);
  await second.ready;
  client.close();
  expect(new Set(seen)).toEqual(new Set(["first"]));
});
