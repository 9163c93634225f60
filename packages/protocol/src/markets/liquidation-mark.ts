/**
 * The mark at which a position becomes due for liquidation, in ticks: the first whole tick, from the
 * safe side, at which margin + unrealised PnL ≤ maintenance. `liquidationPrice` of a position is this.
 *
 * A binary search is exact, because equity less maintenance never falls as the mark moves to the safe
 * side: a tick moves equity by lots × unit micros, and maintenance, at rates below one and rounded up,
 * by no more.
 */

/** A position in integers; lots and cost are negative for shorts. */
export interface Holding {
  readonly lots: number;
  readonly costMicros: number;
  readonly marginMicros: number;
}

/** In ticks; null if no mark of at least one tick makes it due. */
export function liquidationMark(
  { lots, costMicros, marginMicros }: Holding,
  microsPerTickLot: number,
  maintenanceOf: (notionalMicros: number) => number,
): number | null {
  if (lots === 0) return null;
  const isDue = (ticks: number): boolean => {
    const value = lots * ticks * microsPerTickLot;
    return marginMicros + value - costMicros <= maintenanceOf(Math.abs(value));
  };
  return lots > 0 ? highestDue(isDue, costMicros / (lots * microsPerTickLot)) : lowestDue(isDue);
}

/** Longs: due at every mark up to the result. None is due above the entry price plus margin. */
function highestDue(isDue: (ticks: number) => boolean, entryTicks: number): number | null {
  if (!isDue(1)) return null;
  let due = 1;
  let safe = Math.max(2, Math.ceil(entryTicks));
  while (isDue(safe)) {
    due = safe;
    safe *= 2;
  }
  return between(due, safe, isDue);
}

/** Shorts: due at every mark from the result on. */
function lowestDue(isDue: (ticks: number) => boolean): number {
  let due = 1;
  while (!isDue(due)) due *= 2;
  return between(due, Math.floor(due / 2), isDue);
}

/** The due mark next to the safe marks, between one of each. */
function between(due: number, safe: number, isDue: (ticks: number) => boolean): number {
  let [dueTicks, safeTicks] = [due, safe];
  while (Math.abs(safeTicks - dueTicks) > 1) {
    const middle = Math.floor((dueTicks + safeTicks) / 2);
    if (isDue(middle)) dueTicks = middle;
    else safeTicks = middle;
  }
  return dueTicks;
}
