/** Simple moving averages of the closes. */

export interface Point {
  /** Unix milliseconds. */
  readonly time: number;
  readonly value: number;
}

interface Close {
  readonly time: number;
  readonly close: number;
}

/** From the first candle on that has `length` closes. */
export function movingAverage(candles: readonly Close[], length: number): Point[] {
  const points: Point[] = [];
  let sum = 0;
  for (const [at, { time, close }] of candles.entries()) {
    sum += close - (candles[at - length]?.close ?? 0);
    if (at >= length - 1) points.push({ time, value: sum / length });
  }
  return points;
}

/** The average at the last candle alone; undefined if there are too few. */
export function lastAverage(candles: readonly Close[], length: number): Point | undefined {
  return movingAverage(candles.slice(-length), length).at(-1);
}
