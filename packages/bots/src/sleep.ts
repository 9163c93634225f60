import { setTimeout } from "node:timers/promises";

/** Resolves after the time, or when the signal is aborted. */
export async function sleepUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
