/**
 * How tests wait for what they cannot await as an event: they ask until the answer is there.
 *
 * Whatever comes too late ends with an error that begins with `too late: `, by which the test runner
 * knows a time-out from a false result. The limits are shorter than the time-out of a test, so that the
 * error names the condition.
 */

import { setTimeout as delay } from "node:timers/promises";

const WITHIN_MS = 120_000;
const EVERY_MS = 5;

export interface UntilOptions {
  readonly withinMs?: number;
  readonly everyMs?: number;
}

/**
 * The first answer that is not false, undefined or null.
 * @throws {Error} `too late: ` with the condition, if there is none in time
 */
export async function until<T>(
  ask: () => T | Promise<T>,
  { withinMs = WITHIN_MS, everyMs = EVERY_MS }: UntilOptions = {},
): Promise<Exclude<T, false | undefined | null>> {
  const startedMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (isThere(answer)) return answer;
    if (performance.now() - startedMs > withinMs) {
      throw new Error(`too late: not within ${withinMs} ms: ${ask}`);
    }
    await delay(everyMs);
  }
}

function isThere<T>(answer: T): answer is Exclude<T, false | undefined | null> {
  return answer !== false && answer !== undefined && answer !== null;
}

/** Options of `expect.poll`, which makes an error with its stack each time that it compares in vain. */
export const POLL = { timeout: WITHIN_MS, interval: 20, message: "too late" } as const;
