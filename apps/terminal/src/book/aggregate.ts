/**
 * A side of the book aggregated by price step, best first. Bids are rounded down to a step and asks
 * up, so that all lots of a row trade at its price or better.
 */

export interface LadderRow {
  readonly ticks: number;
  readonly lots: number;
  /** Lots from the best price to here. */
  readonly sumLots: number;
}

export interface LevelList {
  readonly ticks: ArrayLike<number>;
  readonly lots: ArrayLike<number>;
  readonly count: number;
}

export function aggregate(
  side: "bid" | "ask",
  levels: LevelList,
  stepTicks: number,
  rowCount: number,
): LadderRow[] {
  const rows: LadderRow[] = [];
  let ticks = 0;
  let lots = 0;
  let sumLots = 0;
  for (let at = 0; at < levels.count; at++) {
    const row = stepOfRow(side, levels.ticks[at]!, stepTicks);
    if (row !== ticks && lots > 0) {
      rows.push({ ticks, lots, sumLots });
      if (rows.length === rowCount) return rows;
      lots = 0;
    }
    ticks = row;
    lots += levels.lots[at]!;
    sumLots += levels.lots[at]!;
  }
  if (lots > 0) rows.push({ ticks, lots, sumLots });
  return rows;
}

/** The price of the row that contains a price. */
export function stepOfRow(side: "bid" | "ask", ticks: number, stepTicks: number): number {
  const steps = ticks / stepTicks;
  return (side === "bid" ? Math.floor(steps) : Math.ceil(steps)) * stepTicks;
}

const FACTORS = [1, 2, 5];
/** The largest step, as a fraction of the price. */
const WIDEST = 1 / 200;

/** Available steps in ticks: 1, 2, 5, 10 … */
export function stepsFor(priceTicks: number): number[] {
  const widest = priceTicks * WIDEST;
  const steps: number[] = [];
  for (let decade = 1; decade <= widest; decade *= 10) {
    for (const factor of FACTORS) {
      if (factor * decade <= widest) steps.push(factor * decade);
    }
  }
  return steps.length === 0 ? [1] : steps;
}
