import { writeSync } from "node:fs";

/** For writing to a non-blocking standard error. */
const WRITE_MS = 500;
const POLL_MS = 10;

/**
 * Standard error may be closed, or a full pipe. A non-blocking one is retried for a moment; for a
 * blocking one there is the watchdog.
 */
export function writeError(text: string): void {
  const bytes = Buffer.from(text);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const giveUpAt = performance.now() + WRITE_MS;
  for (let written = 0; written < bytes.length && performance.now() < giveUpAt; ) {
    try {
      written += writeSync(2, bytes, written);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) return;
      Atomics.wait(pause, 0, 0, POLL_MS);
    }
  }
}

export function writeStack(error: unknown): void {
  writeError(`${stackOf(error)}\n`);
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
