/**
 * The time that a venue starts at. The difference between the log's last time and the wall clock is
 * either the length of the stop or an error of the clock; the log cannot tell which. In order:
 *
 * 1. The operator has accepted the clock: the wall clock is used.
 * 2. The machine has not rebooted: the boot clock shows how much time has passed. A wall clock up to a
 *    minute ahead of that is used, however long the stop was. One further ahead is doubted: the venue
 *    starts at the time that the boot clock shows, as after a jump while it runs (venue-clock.ts).
 * 3. Otherwise a stop of up to a week is accepted, and a longer one refused.
 *
 * A wall clock behind the log's time is never used: time continues from the log.
 */
import { ClockRefused } from "../venue-errors.js";
import type { BootTime, ClockRecord } from "./boot-clock.js";

/** The wall clock is followed up to this lead over the known time. */
export const MAX_FOLLOWED_MS = 60_000;
/** The longest stop that is accepted without the boot clock. */
export const MAX_UNPROVEN_STOP_MS = 7 * 86_400_000;

export interface StartClocks {
  readonly wallMs: number;
  /** The log's time; undefined for a new log. */
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
