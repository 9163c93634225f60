/**
 * The shape of a book: at which prices there are quotes, and how large they are.
 *
 * Prices are divided into cells of a few ticks. Each cell has a tick for its level and a number u in
 * [0, 1). Near the fair price every cell has its level; farther out only those with u below a density
 * that falls with the distance. Tick, u and size depend on the cell alone and not on time. So when the
 * fair price moves, nearly all levels stay, and a restarted crowd keeps its old quotes.
 */

import { randomAt } from "@perpgate/protocol/random";
import { type MarketTerms, SIZE_RANGE } from "../market/market-terms.js";

export type QuoteSide = "bid" | "ask";

/** A cell's least width as a part of the price: about an eighth of a basis point. */
export const NARROWEST_CELL = 0.000012;
/** How far the ladder reaches, as a part of the price; farther if it has too few cells. */
const REACH = 0.02;
const LONGEST_REACH = 0.3;
/** Cells that always have a level: the best quotes are among them, however coarse the ticks. */
const FEWEST_CELLS = 4;
/** The exponent of u that makes small sizes more frequent. */
const SMALLNESS = 1.3;
/** Next to the fair price a size has this part of the range, on its logarithm. */
const NEAREST = 0.7;
/** A best quote is about this part of the largest level. */
const TOUCH_PART = 1 / 12;

export interface QuoteLadder {
  readonly key: number;
  readonly cellTicks: number;
  /** How many cells it reaches on each side. */
  readonly reachCells: number;
  /** Up to here every cell has a level; beyond, the density falls as 1/distance. */
  readonly fullCells: number;
}

/** `cell` is a cell's width as a part of the price. */
export function ladderOf(
  key: number,
  fairTicks: number,
  levels: number,
  cell = NARROWEST_CELL,
): QuoteLadder {
  const cellTicks = Math.max(1, Math.round(fairTicks * cell));
  const cellsIn = (part: number) => Math.max(FEWEST_CELLS, (fairTicks * part) / cellTicks);
  const reachCells = Math.floor(Math.min(cellsIn(LONGEST_REACH), Math.max(cellsIn(REACH), levels)));
  const fullCells = Math.max(FEWEST_CELLS, fullCellsFor(levels, reachCells));
  return { key, cellTicks, reachCells, fullCells };
}

/** The probability that a cell at this distance has a level. */
export function density({ reachCells, fullCells }: QuoteLadder, distanceCells: number): number {
  if (distanceCells > reachCells) return 0;
  return distanceCells <= fullCells ? 1 : fullCells / distanceCells;
}

export function cellOf({ cellTicks }: QuoteLadder, ticks: number): number {
  return Math.floor(ticks / cellTicks);
}

/** The tick of the cell's level. */
export function tickOfCell({ key, cellTicks }: QuoteLadder, cell: number): number {
  return cell * cellTicks + Math.floor(randomAt(key ^ 0x1, cell) * cellTicks);
}

/** The cell has its level where the density is above this. */
export function rankOfCell({ key }: QuoteLadder, cell: number): number {
  return randomAt(key ^ 0x2, cell);
}

/** Which of the makers quotes at this tick. */
export function ownerOf({ key }: QuoteLadder, ticks: number, makers: number): number {
  return Math.floor(randomAt(key ^ 0x3, ticks) * makers);
}

/** Dollars of a level: over three orders of magnitude, the largest not next to the fair price. */
export function dollarsOf(
  ladder: QuoteLadder,
  terms: MarketTerms,
  ticks: number,
  gap: number,
): number {
  const nearness = Math.min(1, NEAREST + gap / (ladder.cellTicks * ladder.fullCells));
  const u = randomAt(ladder.key ^ 0x4, ticks) ** SMALLNESS * nearness;
  return (terms.largest / SIZE_RANGE) * SIZE_RANGE ** u;
}

/** Dollars of the best quote: larger than most trades. */
export function touchDollarsOf(ladder: QuoteLadder, terms: MarketTerms, ticks: number): number {
  return terms.largest * TOUCH_PART * (0.5 + randomAt(ladder.key ^ 0x5, ticks));
}

/** Solves full × (1 + ln(reach / full)) = levels, which grows with `full`. */
function fullCellsFor(levels: number, reachCells: number): number {
  if (levels >= reachCells) return reachCells;
  let [low, high] = [0, reachCells];
  for (let round = 0; round < 40; round++) {
    const full = (low + high) / 2;
    if (full * (1 + Math.log(reachCells / full)) < levels) low = full;
    else high = full;
  }
  return high;
}
