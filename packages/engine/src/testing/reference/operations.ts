/**
 * "Operator commands": they expire, and at most ten are executed in a minute.
 */
import { type Refused, refused } from "./refusal.js";
import type { State } from "./state.js";

const MINUTE_MS = 60_000;
const PER_MINUTE = 10;

/** Runs the command if it may run now, and counts it if it was executed. */
export function operate(
  state: State,
  { expiresAtMs }: { expiresAtMs: number },
  run: () => Refused | null,
): Refused | null {
  if (state.time > expiresAtMs) return refused("command_expired");
  const recent = state.operations.filter((time) => time + MINUTE_MS > state.time);
  if (recent.length >= PER_MINUTE) {
    return refused("operator_rate_limit", (recent.at(-PER_MINUTE) ?? 0) + MINUTE_MS);
  }
  const refusal = run();
  if (refusal === null) state.operations.push(state.time);
  return refusal;
}
