/**
 * The time that a venue starts at. The log's own time is where it stopped; the wall clock says what
 * time it is now; between them lies the stop, or an error of the clock, and nothing in the log tells
 * which. In order:
 *
 * 1. The operator has accepted the clock: it is believed.
 * 2. The machine has not booted since: the boot clock shows how much time has passed. A wall clock
 *    up to a minute ahead of that is believed, however long the stop was. One further ahead is
 *    doubted: the venue starts at the time that is shown, and goes on as it does when the clock
 *    jumps while it runs (venue-clock.ts).
 * 3. Otherwise a stop of up to a week is believed, and anything longer refused.
 *
 * A clock behind the log's time is never followed: time goes on from the log.
 */
import { ClockRefused } from "../venue-errors.js";
import type { BootTime, ClockRecord } from "./boot-clock.js";

/** A wall clock may be ahead of what is known by so much and still be followed. */
export const MAX_FOLLOWED_MS = 60_000;
/** The longest stop that is believed without proof. */
export const MAX_UNPROVEN_STOP_MS = 7 * 86_400_000;

export interface StartClocks {
  readonly wallMs: number;
  /** The log's time; undefined for a log that begins now. */
  readonly logMs: number | undefined;
  readonly record: ClockRecord | undefined;
  readonly boot: BootTime | undefined;
  /** Whether the operator has said that the clock is right. */
  readonly isAccepted: boolean;
}

/** @throws {ClockRefused} */
export function startTime({ wallMs, logMs, record, boot, isAccepted }: StartClocks): number {
  if (logMs === undefined) return wallMs;
  const followed = Math.max(logMs, wallMs);
  if (isAccepted) return followed;
  if (record !== undefined && boot !== undefined && record.boot === boot.boot) {
    const passedMs = Math.max(0, boot.elapsedMs - record.elapsedMs);
    const shownMs = Math.max(logMs, Math.floor(record.timeMs + passedMs));
    return wallMs - shownMs <= MAX_FOLLOWED_MS ? followed : shownMs;
  }
  if (wallMs - logMs <= MAX_UNPROVEN_STOP_MS) return followed;
  throw new ClockRefused(logMs, wallMs, MAX_UNPROVEN_STOP_MS);
}
