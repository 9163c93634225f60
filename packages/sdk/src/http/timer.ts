/** Timers for any length of time: the platform's fire at once past 2^31 milliseconds. */

const LONGEST_MS = 2 ** 31 - 1;

export type Timer = ReturnType<typeof setTimeout>;

/** Calls back after so long, or after 24 days if that is sooner. */
export function startTimer(ms: number, callback: () => void): Timer {
  return setTimeout(callback, Math.min(ms, LONGEST_MS));
}
