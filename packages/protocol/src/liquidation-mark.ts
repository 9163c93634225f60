/**
 * The mark at which a position becomes due for liquidation: the first whole tick, from the safe
 * side, at which margin + unrealised PnL ≤ maintenance. It is what `liquidationPrice` of a position
 * means, wherever it is computed.
 *
 * In: the position in integers, and what a notional must keep. Out: ticks. Exact, because equity less
 * maintenance never falls as the mark moves to the safe side: a tick moves equity by lots × unit
 * micros, and maintenance, at rates below one and rounded up, by no more.
 */

/** A position in integers; lots and cost are negative for shorts. */
export interface Holding {
  readonly lots: number;
  readonly costMicros: number;
  readonly marginMicros: number;
}

/** In ticks, or null where no mark of at least one tick would do it. */
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

/** Longs: due at every mark up to the answer. Above the entry price plus margin none is. */
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

/** Shorts: due from the answer on. */
function lowestDue(isDue: (ticks: number) => boolean): number {
  let due = 1;
  while (!isDue(due)) due *= 2;
  return between(due, Math.floor(due / 2), isDue);
}

/** The due mark next to the safe ones, between one of each. */
function between(due: number, safe: number, isDue: (ticks: number) => boolean): number {
  let [dueTicks, safeTicks] = [due, safe];
  while (Math.abs(safeTicks - dueTicks) > 1) {
    const middle = Math.floor((dueTicks + safeTicks) / 2);
    if (isDue(middle)) dueTicks = middle;
    else safeTicks = middle;
  }
  return dueTicks;
}
