/**
 * Which of the paced orders the machine left alone.
 *
 * Orders that overlap in time may wait for each other, so they are taken in busy periods: from an
 * order that found nothing under way to the moment when nothing is under way again. A period that
 * touches a slow stretch of the machine is left out whole, with the queue that the stretch left
 * behind. All others count, whatever the server did in them.
 */
import type { Stretch } from "./machine-pace.js";

export interface Paced {
  /** When the first order was due, on the clock that all processes share. */
  readonly firstDueMs: number;
  readonly gapMs: number;
  /** From due to answered, in the order in which they were due. */
  readonly dueLatenciesMs: readonly number[];
}

/** The places of the orders in periods that no slow stretch touches. */
export function undisturbed(paced: Paced, slow: readonly Stretch[]): number[] {
  const { firstDueMs, gapMs, dueLatenciesMs } = paced;
  const kept: number[] = [];
  let begin = 0;
  let untilMs = Number.NEGATIVE_INFINITY;
  const close = (end: number): void => {
    const period = { fromMs: firstDueMs + begin * gapMs, toMs: untilMs };
    if (!slow.some((stretch) => overlaps(stretch, period))) {
      for (let i = begin; i < end; i++) kept.push(i);
    }
    begin = end;
  };
  for (const [i, latencyMs] of dueLatenciesMs.entries()) {
    const dueMs = firstDueMs + i * gapMs;
    if (dueMs > untilMs && i > begin) close(i);
    untilMs = Math.max(untilMs, dueMs + latencyMs);
  }
  if (begin < dueLatenciesMs.length) close(dueLatenciesMs.length);
  return kept;
}

function overlaps(a: Stretch, b: Stretch): boolean {
  return a.fromMs <= b.toMs && b.fromMs <= a.toMs;
}
