/**
 * Preloaded into the gateway under test, which knows nothing of it: asked over IPC, collects garbage
 * and answers how much memory is still in use. Needs `--expose-gc`.
 */
import { readFileSync } from "node:fs";

export interface MemoryInUse {
  /** Of the main thread's heap. */
  readonly heapBytes: number;
  /** Of the whole process, without mapped files; null where the system does not tell. */
  readonly anonymousBytes: number | null;
}

function anonymousBytes(): number | null {
  try {
    const [, kilobytes] =
      /RssAnon:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return kilobytes === undefined ? null : Number(kilobytes) * 1024;
  } catch {
    return null;
  }
}

process.on("message", () => {
  globalThis.gc?.();
  const memory: MemoryInUse = {
    heapBytes: process.memoryUsage().heapUsed,
    anonymousBytes: anonymousBytes(),
  };
  process.send?.(memory);
});
process.channel?.unref();
