/**
 * The mark at which a position becomes due for liquidation: the first whole tick, from the safe
 * side, at which margin + unrealised PnL ≤ maintenance. Exact, because equity less maintenance
 * never falls as the mark moves to the safe side: a tick moves equity by lots × unit micros, and
 * maintenance, at rates below one and rounded up, by no more.
 */
import type { Market } from "@perpgate/engine/reading";

/** In ticks, or null where no mark ≥ 1 would do it. */
export function liquidationTicks(
  market: Market,
  lots: number,
  cost: number,
  margin: number,
): number | null {
  if (lots === 0) return null;
  const unit = market.microsPerTickLot;
  const isDue = (ticks: number): boolean => {
    const value = lots * ticks * unit;
    return margin + value - cost <= market.maintenance.of(Math.abs(value));
  };
  return lots > 0 ? highestDue(isDue, cost / (lots * unit)) : lowestDue(isDue);
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
  while (safe - due > 1) {
    const middle = Math.floor((due + safe) / 2);
    if (isDue(middle)) due = middle;
    else safe = middle;
  }
  return due;
}

/** Shorts: due from the answer on. */
function lowestDue(isDue: (ticks: number) => boolean): number | null {
  let safe = 0;
  let due = 1;
  while (!isDue(due)) {
    safe = due;
    due *= 2;
  }
  while (due - safe > 1) {
    const middle = Math.floor((due + safe) / 2);
    if (isDue(middle)) due = middle;
    else safe = middle;
  }
  return due;
}
