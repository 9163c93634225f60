/**
 * A book as a ladder: asks above, bids below, the best of both in the middle. Each line has the
 * price, its size, the sum of all sizes up to it, and a bar of that sum.
 */

import type { PriceLevel } from "@perpgate/sdk";
import type { Paint, Tone } from "./style.js";

export interface PrintedBook {
  readonly bids: readonly PriceLevel[];
  readonly asks: readonly PriceLevel[];
}

export interface LadderStyle {
  readonly price: (value: number) => string;
  readonly size: (value: number) => string;
  readonly paint: Paint;
  /** Columns of the longest bar; 0 draws none. */
  readonly barWidth: number;
}

interface Rung {
  readonly price: string;
  readonly size: string;
  readonly total: string;
  readonly share: number;
}

const TITLES: Rung = { price: "price", size: "size", total: "total", share: 0 };
const BLOCKS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

export function ladderLines({ bids, asks }: PrintedBook, style: LadderStyle): string[] {
  const deepest = Math.max(depthOf(bids), depthOf(asks));
  const [askRungs, bidRungs] = [rungs(asks, deepest, style), rungs(bids, deepest, style)];
  const widths = widthsOf([TITLES, ...askRungs, ...bidRungs]);
  const draw = (tone: Tone) => (rung: Rung) => rungText(rung, widths, tone, style);
  return [
    style.paint(rungText(TITLES, widths, "plain", style), "dim"),
    ...askRungs.map(draw("bad")).reverse(),
    spreadLine(bids[0], asks[0], style),
    ...bidRungs.map(draw("good")),
  ];
}

function depthOf(levels: readonly PriceLevel[]): number {
  return levels.reduce((sum, [, size]) => sum + size, 0);
}

function rungs(levels: readonly PriceLevel[], deepest: number, style: LadderStyle): Rung[] {
  let total = 0;
  return levels.map(([price, size]) => {
    total += size;
    const share = deepest > 0 ? total / deepest : 0;
    return { price: style.price(price), size: style.size(size), total: style.size(total), share };
  });
}

function widthsOf(all: readonly Rung[]): readonly [number, number, number] {
  const widest = (text: (rung: Rung) => string) =>
    Math.max(...all.map((rung) => text(rung).length));
  return [widest(({ price }) => price), widest(({ size }) => size), widest(({ total }) => total)];
}

function rungText(
  { price, size, total, share }: Rung,
  [priceWidth, sizeWidth, totalWidth]: readonly [number, number, number],
  tone: Tone,
  { paint, barWidth }: LadderStyle,
): string {
  const bar = barText(share, barWidth);
  const tail = bar === "" ? "" : `  ${paint(bar, tone)}`;
  const painted = paint(price.padStart(priceWidth), tone);
  return `${painted}  ${size.padStart(sizeWidth)}  ${total.padStart(totalWidth)}${tail}`;
}

function barText(share: number, width: number): string {
  const eighths = Math.round(share * width * 8);
  return "█".repeat(Math.floor(eighths / 8)) + (BLOCKS[eighths % 8] ?? "");
}

function spreadLine(
  bid: PriceLevel | undefined,
  ask: PriceLevel | undefined,
  { price, paint }: LadderStyle,
): string {
  if (bid === undefined && ask === undefined) return paint("the book is empty", "dim");
  if (bid === undefined) return paint("no bids", "dim");
  if (ask === undefined) return paint("no asks", "dim");
  return paint(`spread ${price(ask[0] - bid[0])}`, "dim");
}
