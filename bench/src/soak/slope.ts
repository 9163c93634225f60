/**
 * Slopes that single outliers do not decide: the median of the slopes of all pairs of points
 * (Theil–Sen). Memory is first reduced to the lowest value of each window, since what garbage
 * collection has not collected yet is no growth.
 */
import { median } from "../report.js";

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Change of y per unit of x; 0 of fewer than two points. */
export function slopeOf(points: readonly Point[]): number {
  const slopes: number[] = [];
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(i + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  return median(slopes);
}

/** The lowest point of each stretch of `width`. */
export function lowest(points: readonly Point[], width: number): Point[] {
  const windows = new Map<number, Point>();
  for (const point of points) {
    const window = Math.floor(point.x / width);
    const held = windows.get(window);
    if (held === undefined || point.y < held.y) windows.set(window, point);
  }
  return [...windows.values()];
}
