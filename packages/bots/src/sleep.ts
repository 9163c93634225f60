import { setTimeout } from "node:timers/promises";

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** How long to wait after that many failures in a row before the next try. */
export function retryWaitMs(failures: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10));
}

/** Resolves after the time, or when the signal is aborted. A time in the past is none: Node warns of it. */
export async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
