import { describe, expect, onTestFinished, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { type RunningVenue, runVenue } from "../venue/testing/running-venue.js";
import { Trader } from "../venue/testing/trader.js";
import { StreamClient } from "./testing/stream-client.js";

/** A maker's resting order and a taker of part of it: one trade at 65,010. */
async function trade(at: RunningVenue, maker: Trader, taker: Trader): Promise<void> {
  await maker.place(maker.limit("short", 65_010, { margin: 1_000 }));
  const { body } = await taker.place(taker.order({ margin: 130.02, leverage: 5 }));
  expect(body.status).toBe("filled");
  expect(at.streamFaults).toEqual([]);
}

async function rest(url: string): Promise<unknown> {
  return JSON.parse((await ask(url)).text);
}

describe("public streams", () => {
  test("many streams on one socket: no warning of a listener leak", async () => {
    const warnings: string[] = [];
    // The process is shared with other tests: whatever else Node may warn of is not about this.
    const note = ({ name, message }: Error) => {
      if (name === "MaxListenersExceededWarning") warnings.push(message);
    };
    process.on("warning", note);
    onTestFinished(() => {
      process.off("warning", note);
    });
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    for (let i = 0; i < 15; i++) {
      await client.ask({ op: "subscribe", streams: ["book.BTCUSD", "book.ETHUSD"] });
      await client.ask({ op: "unsubscribe", streams: ["book.ETHUSD"] });
    }
    const streams = ["BTCUSD", "ETHUSD", "SOLUSD"].flatMap((symbol) => [
      `ticker.${symbol}`,
      `trades.${symbol}`,
      ...["1m", "5m", "15m", "1h", "4h", "1d"].map(
        (resolution) => `candles.${symbol}.${resolution}`,
      ),
    ]);
    await client.ask({ op: "subscribe", streams });
    await client.settled();
    expect(warnings).toEqual([]);
  });

  test("trades: each once, as REST lists them, only to subscribers of the market", async () => {
    const at = await runVenue();
    const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
    const client = await StreamClient.connect(at.url);
    const other = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["trades.BTCUSD"] });
    await other.ask({ op: "subscribe", streams: ["trades.ETHUSD"] });
    await trade(at, maker, taker);
    const frame = await client.next("trades");
    expect(frame.s).toBe("BTCUSD");
    expect(frame.d.items).toEqual(await rest(`${at.url}/v1/markets/BTCUSD/trades`));
    await other.settled();
    expect(other.frames).toEqual([]);
  });

  test("ticker: on subscribe, then on each change, equal to REST", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["ticker.BTCUSD"] });
    const first = await client.next("ticker");
    expect(first.d).toMatchObject({ symbol: "BTCUSD", index: 65_000, bid: null });
    await at.setIndex("BTCUSD", 65_100);
    const second = await client.next("ticker");
    expect(second.d).toEqual(await rest(`${at.url}/v1/markets/BTCUSD/ticker`));
    expect(second.d.index).toBe(65_100);
  });

  test("candles: the open candle and the one before it", async () => {
    const at = await runVenue();
    const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["candles.BTCUSD.1m"] });
    await trade(at, maker, taker);
    const first = await client.next("candles");
    expect(first.s).toBe("BTCUSD.1m");
    expect(first.d.items).toMatchObject([{ open: 65_010, close: 65_010, trades: 1 }]);
    await at.advance(60_000);
    await at.setIndex("BTCUSD", 65_000);
    await taker.place(taker.order({ margin: 130.02, leverage: 5 }));
    const next = await client.take(({ t, d }) => {
      return t === "candles" && Array.isArray(d.items) && d.items.length === 2;
    });
    expect(next.d.items).toMatchObject([{ trades: 1 }, { trades: 1, close: 65_010 }]);
    const late = await StreamClient.connect(at.url);
    await late.ask({ op: "subscribe", streams: ["candles.BTCUSD.1m"] });
    expect((await late.next("candles")).d).toEqual(next.d);
  });

  test("blocks: every sealed block, in order", async () => {
    const at = await runVenue();
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["blocks"] });
    const trader = await Trader.enter(at);
    for (let i = 0; i < 3; i++) {
      await trader.place(trader.limit("long", 60_000 + i));
      await at.advance(200);
    }
    const numbers: number[] = [];
    while (numbers.length < 3) {
      const { d } = await client.next("blocks");
      expect(d).toEqual(await rest(`${at.url}/v1/blocks/${String(d.number)}`));
      numbers.push(Number(d.number));
    }
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(3);
  });

  test("book: the plain format shows prices and sizes, equal to REST", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    await trader.place(trader.limit("long", 64_000));
    const client = await StreamClient.connect(at.url);
    await client.ask({ op: "subscribe", streams: ["book.BTCUSD"], format: "plain" });
    const snapshot = await client.next("book");
    const { body } = await ask(`${at.url}/v1/markets/BTCUSD/book`);
    expect(snapshot.d).toMatchObject({
      type: "snapshot",
      seq: body.seq,
      block: body.block,
      time: body.time,
      tick: 0.1,
      lot: 0.00001,
      bids: body.bids,
      asks: [],
    });
    await trader.place(trader.limit("long", 63_000));
    const delta = await client.next("book");
    expect(delta.d).toMatchObject({ type: "delta", prev: snapshot.d.seq, asks: [] });
    expect(delta.d.bids).toEqual([[63_000, 0.00793]]);
  });

  test("unsubscribe: no further frame, and the feed has no readers", async () => {
    const at = await runVenue();
    const trader = await Trader.enter(at);
    const client = await StreamClient.connect(at.url);
    const streams = ["book.BTCUSD", "ticker.BTCUSD", "trades.BTCUSD"];
    await client.ask({ op: "subscribe", streams });
    await client.ask({ op: "unsubscribe", streams });
    client.frames.length = 0;
    await trader.place(trader.limit("long", 64_000));
    const witness = await StreamClient.connect(at.url);
    await witness.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
    await trader.place(trader.limit("long", 63_000));
    await witness.take(({ d }) => d.type === "delta");
    await client.settled();
    expect(client.frames).toEqual([]);
  });
});
