import { POLL } from "@perpgate/gateway/testing";
import type { Candle } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { CandleFeed, CandleList, type CandleListener, type CandleSource } from "./candle-feed.js";

function candle(time: number, close = 1): Candle {
  return { time, open: 1, high: 2, low: 1, close, volume: close, trades: 1 };
}

const times = (list: CandleList) => list.all.map(({ time }) => time);

describe("candles", () => {
  test("stream before history: joined in order of time, none twice", () => {
    const list = new CandleList();
    expect(list.put(candle(50))).toBe("update-last");
    expect(list.put(candle(60))).toBe("update-last");
    list.joinNewest([candle(30), candle(40), candle(50)]);
    expect(times(list)).toEqual([30, 40, 50, 60]);
  });

  test("older page: overlapping candles are left out", () => {
    const list = new CandleList();
    list.put(candle(50));
    list.joinNewest([candle(30), candle(40), candle(50)]);
    expect(list.joinOlder([candle(10), candle(20), candle(30), candle(40)])).toBe(2);
    expect(times(list)).toEqual([10, 20, 30, 40, 50]);
  });

  test("last candle: updated; an earlier one: redrawn; unchanged: nothing", () => {
    const list = new CandleList();
    list.joinNewest([candle(10), candle(20)]);
    expect(list.put(candle(20, 1.5))).toBe("update-last");
    expect(list.put(candle(10, 1.2))).toBe("redraw");
    expect(list.put(candle(10, 1.2))).toBe("nothing");
    expect(list.put(candle(5))).toBe("nothing");
    expect(list.all.map(({ close }) => close)).toEqual([1.2, 1.5]);
  });

  test("newest page after a gap: older candles are dropped", () => {
    const list = new CandleList();
    list.joinNewest([candle(10), candle(20)]);
    list.joinNewest([candle(100), candle(110)]);
    expect(times(list)).toEqual([100, 110]);
    list.joinNewest([candle(110), candle(120)]);
    expect(times(list)).toEqual([100, 110, 120]);
  });
});

/** A market with this many candles, newest first by pages, as the venue gives them. */
function historyOf(length: number): {
  readonly source: CandleSource;
  requests(): number;
  put(candle: Candle): void;
} {
  const all = Array.from({ length }, (_, at) => candle((at + 1) * 60_000));
  let count = 0;
  let listener: (candles: readonly Candle[]) => void = () => undefined;
  const source: CandleSource = {
    candles: async (_, { before = Number.POSITIVE_INFINITY, limit = 100 } = {}) => {
      count++;
      return all
        .filter(({ time }) => time < before)
        .slice(-limit)
        .reverse();
    },
    stream: {
      watchCandles: (_symbol, _resolution, given) => {
        listener = given;
        return { close: () => undefined };
      },
    },
  };
  return { source, requests: () => count, put: (one) => listener([one]) };
}

function shownBy(source: CandleSource) {
  const shown: { times: number[]; isComplete: boolean } = { times: [], isComplete: false };
  const listener: CandleListener = {
    replaced: (candles, _, isComplete) => {
      shown.times = candles.map(({ time }) => time);
      shown.isComplete = isComplete;
    },
    updated: ({ time }) => {
      shown.times = [...shown.times.filter((each) => each !== time), time];
    },
  };
  return { shown, feed: new CandleFeed(source, "BTCUSD", "1m", listener) };
}

describe("history of a market", () => {
  test("longer than a page: scrolled back to its first candle, which is known to be the first", async () => {
    const { source, requests } = historyOf(1_234);
    const { shown, feed } = shownBy(source);
    feed.start();
    await expect.poll(() => shown.times.length, POLL).toBe(500);
    expect(shown.isComplete).toBe(false);
    await feed.loadOlder();
    expect(shown.times.length).toBe(1_000);
    await feed.loadOlder();
    expect(shown.times.length).toBe(1_234);
    expect(shown.times[0]).toBe(60_000);
    expect(shown.isComplete).toBe(true);
    // A reconnection loads the newest page again, and forgets nothing.
    const before = requests();
    feed.reload();
    await expect.poll(requests, POLL).toBe(before + 1);
    expect(shown.times.length).toBe(1_234);
    expect(shown.isComplete).toBe(true);
    feed.close();
  });

  test("new market: empty, then its first trade", async () => {
    const { source, put } = historyOf(0);
    const { shown, feed } = shownBy(source);
    feed.start();
    await expect.poll(() => shown.isComplete, POLL).toBe(true);
    expect(shown.times).toEqual([]);
    put(candle(60_000));
    expect(shown).toEqual({ times: [60_000], isComplete: true });
    feed.close();
  });
});
