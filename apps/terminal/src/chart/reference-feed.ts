/**
 * Mark or index price of a market as candles of the chart's interval: history by pages, the last one
 * from the ticker, which is newer than any candle of the venue.
 */

import type { Candle } from "@perpgate/protocol";
import type { PerpgateClient } from "@perpgate/sdk";
import { CandleFeed, type CandleSource } from "../venue/candle-feed.js";
import type { MarketFeed } from "../venue/market-feed.js";
import { baseOf, beginOf, type Interval, made } from "./intervals.js";
import type { Point } from "./studies.js";
import type { Reference } from "./study-names.js";

export function referenceFeed(
  client: PerpgateClient,
  marketFeed: Pick<MarketFeed, "ticker">,
  price: Reference,
  { symbol, interval }: { readonly symbol: string; readonly interval: Interval },
  /** `isLast`: only the last point is new or has changed. */
  onPoints: (points: readonly Point[], isLast: boolean) => void,
): CandleFeed {
  let points: readonly Point[] = [];
  const source: CandleSource = {
    candles: (name, query) => client.candles(name, { ...query, price }),
    stream: {
      watchCandles: (_, __, listener) => {
        const ticker = marketFeed.ticker(symbol);
        const stop = ticker.watch(() => {
          const { [price]: value, time } = ticker.get() ?? { [price]: null, time: 0 };
          if (value !== null && value !== undefined) listener([candleAt(time, value)]);
        });
        return { close: stop };
      },
    },
  };
  const candleAt = (timeMs: number, value: number): Candle => ({
    time: beginOf(timeMs, baseOf(interval)),
    open: value,
    high: value,
    low: value,
    close: value,
    volume: 0,
    trades: 0,
  });
  const grouped = made(interval, {
    replaced: (candles) => {
      points = candles.map(pointOf);
      onPoints(points, false);
    },
    updated: (candle) => {
      const point = pointOf(candle);
      points = points.at(-1)?.time === point.time ? points.with(-1, point) : [...points, point];
      onPoints(points, true);
    },
  });
  return new CandleFeed(source, symbol, baseOf(interval), grouped);
}

function pointOf({ time, close }: Candle): Point {
  return { time, value: close };
}
