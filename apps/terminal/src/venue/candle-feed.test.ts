import type { Candle } from "@perpgate/protocol";
import { describe, expect, test } from "vitest";
import { CandleList } from "./candle-feed.js";

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
