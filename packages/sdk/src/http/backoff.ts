/** How long to wait before the next try, and a pause that can be called off. */

import { startTimer } from "./timer.js";

const FIRST_MS = 100;
const LONGEST_MS = 5_000;

/** Doubles with each try; the upper half of it is chance, so that clients do not come in step. */
export function backoffMs(
  failures: number,
  { firstMs = FIRST_MS, longestMs = LONGEST_MS, random = Math.random } = {},
): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(failures, 20));
  return full / 2 + (full / 2) * random();
}

/** Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const finish = () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    };
    const timer = startTimer(ms, finish);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
