/**
 * What holds for every operator command: it expires, and few are executed a minute, so that a stolen
 * key or a script that runs wild cannot change everything in one moment.
 */
import { OPERATOR_COMMANDS_PER_WINDOW, OPERATOR_WINDOW_MS } from "./config.js";
import { REFUSAL } from "./reasons.js";
import { refuse } from "./refuse.js";
import type { VenueState } from "./state/venue.js";

/** Whether the command may be executed now; otherwise refuses it. */
export function mayOperate(s: VenueState, { expiresAtMs }: { expiresAtMs: number }): boolean {
  // A missing time is no time, so it has passed.
  if (!(s.timeMs <= expiresAtMs)) return refuse(s, REFUSAL.command_expired);
  const [oldest = 0] = s.operatorTimes;
  const isFull = s.operatorTimes.length === OPERATOR_COMMANDS_PER_WINDOW;
  const freeAtMs = oldest + OPERATOR_WINDOW_MS;
  if (isFull && s.timeMs < freeAtMs) return refuse(s, REFUSAL.operator_rate_limit, freeAtMs);
  return true;
}

/** Counts an executed operator command. */
export function countOperation(s: VenueState): void {
  s.operatorTimes.push(s.timeMs);
  if (s.operatorTimes.length > OPERATOR_COMMANDS_PER_WINDOW) s.operatorTimes.shift();
}
