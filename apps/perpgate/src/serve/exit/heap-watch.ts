/**
 * Ends the process while its heap is nearly full and collections free too little. V8 itself gives up
 * only after several collections in a row that free nothing, with a native stack trace; before that a
 * process can spend minutes in collections and still accept connections.
 *
 * While the heap is not near its limit, a look is one call of some microseconds. Near it, V8's profiler of
 * collections says what each full one left alive and what it took.
 */

import { GCProfiler, getHeapStatistics } from "node:v8";
import { StartError } from "../../cli/start-error.js";
import { HEAP_FLAG, heapLimitBytes } from "./heap-limit.js";

const LOOK_EVERY_MS = 100;
/** In use, garbage included: from here on collections are profiled. */
const NEAR = 0.7;
/** Alive after a full collection. */
const HIGH = 0.8;
const FULL = 0.9;
/** Full collections in a row that leave the heap full. */
const FULL_COLLECTIONS = 2;
/** Of the time, in full collections, while the heap is high. */
const LARGEST_SHARE = 1 / 3;
const SHARE_LOOKS = 50;
const WARN_AGAIN_MS = 60_000;
const MIB = 2 ** 20;

/** One full collection. */
interface Collection {
  /** Bytes of the old generation that it left. */
  readonly aliveBytes: number;
  readonly ms: number;
}

type HeapVerdict = "fine" | "high" | "full";

/** Judges the collections of one look after another. */
export class HeapJudge {
  private fullInARow = 0;
  /** Shares of the last looks. */
  private shares: readonly number[] = [];
  private aliveBytes = 0;

  constructor(private readonly limitBytes: number) {}

  look(collections: readonly Collection[], elapsedMs: number): HeapVerdict {
    for (const { aliveBytes } of collections) {
      this.aliveBytes = aliveBytes;
      this.fullInARow = aliveBytes >= FULL * this.limitBytes ? this.fullInARow + 1 : 0;
    }
    const ms = collections.reduce((sum, one) => sum + one.ms, 0);
    this.shares = [...this.shares, ms / elapsedMs].slice(-SHARE_LOOKS);
    if (this.fullInARow >= FULL_COLLECTIONS) return "full";
    if (this.aliveBytes < HIGH * this.limitBytes) return "fine";
    const share = this.shares.reduce((sum, one) => sum + one, 0) / SHARE_LOOKS;
    return share >= LARGEST_SHARE ? "full" : "high";
  }

  get aliveMiB(): number {
    return Math.round(this.aliveBytes / MIB);
  }
}

interface HeapEvents {
  onHigh(fields: { readonly aliveMiB: number; readonly limitMiB: number }, message: string): void;
  onFull(error: StartError): void;
}

/** Looks until the process ends; does not keep it alive. */
export function watchHeap({ onHigh, onFull }: HeapEvents): void {
  const limitBytes = heapLimitBytes();
  const limitMiB = Math.round(limitBytes / MIB);
  let profiled: { readonly profiler: GCProfiler; readonly judge: HeapJudge } | undefined;
  let lookedAtMs = performance.now();
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const elapsedMs = nowMs - lookedAtMs;
    lookedAtMs = nowMs;
    const collections = profiled === undefined ? [] : fullCollections(profiled.profiler);
    if (getHeapStatistics().used_heap_size < NEAR * limitBytes) {
      profiled = undefined;
      return;
    }
    const judge = profiled?.judge ?? new HeapJudge(limitBytes);
    const verdict = judge.look(collections, elapsedMs);
    const { aliveMiB } = judge;
    if (verdict === "full") {
      clearInterval(timer);
      onFull(
        new StartError(
          `out of memory: ${aliveMiB} of at most ${limitMiB} MiB of heap are in use after a ` +
            `collection; start node with a larger ${HEAP_FLAG}`,
        ),
      );
      return;
    }
    if (verdict === "high" && nowMs - warnedAtMs >= WARN_AGAIN_MS) {
      warnedAtMs = nowMs;
      onHigh({ aliveMiB, limitMiB }, `the heap is nearly full; raise ${HEAP_FLAG}`);
    }
    const profiler = new GCProfiler();
    profiler.start();
    profiled = { profiler, judge };
  }, LOOK_EVERY_MS);
  timer.unref();
}

function fullCollections(profiler: GCProfiler): readonly Collection[] {
  return profiler
    .stop()
    .statistics.filter(({ gcType }) => gcType === "MarkSweepCompact")
    .map(({ cost, afterGC }) => ({
      aliveBytes: afterGC.heapSpaceStatistics
        .filter(({ spaceName }) => !spaceName.startsWith("new_"))
        .reduce((sum, { spaceUsedSize }) => sum + spaceUsedSize, 0),
      // V8 gives microseconds.
      ms: cost / 1_000,
    }));
}
