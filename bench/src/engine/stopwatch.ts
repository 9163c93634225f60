/**
 * The processor time of single commands, on the thread that applies them. Whatever takes long is
 * compared with the garbage collections of the same moment, and with two loops of known length that
 * run right after it, one of arithmetic and one of reads all over a few megabytes: where either is slow
 * too, the machine was, and the command is left out.
 */
import { PerformanceObserver } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { Command, Engine } from "@perpgate/engine";
import { ThreadClock } from "./thread-clock.js";

/** Below this a command is not looked at. */
const NOTABLE_MS = 1;
/** Reading the clock takes as long as some commands: what a notable one took is too high by up to this. */
const CLOCK_EVERY_MS = 0.2;
/** A loop that takes this much longer than its fastest run shows a slow machine. */
const SLOW = 1.5;
/** Larger than the caches of one core. */
const MEMORY_WORDS = 1 << 21;

interface Notable {
  readonly kind: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly cpuMs: number;
  readonly wasSlow: boolean;
}

export class Stopwatch {
  private notable: Notable[] = [];
  private commands = 0;
  private readonly clock = new ThreadClock();
  /** When the clock was last read, and what it showed. */
  private readAtMs = Number.NEGATIVE_INFINITY;
  private readMs = 0;
  private readonly collections: { startMs: number; endMs: number }[] = [];
  private readonly observer: PerformanceObserver;
  private readonly memory = Int32Array.from({ length: MEMORY_WORDS }, (_, i) => i);
  private readonly arithmeticMs: number;
  private readonly readingMs: number;

  constructor() {
    this.observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        this.collections.push({ startMs: startTime, endMs: startTime + duration });
      }
    });
    this.observer.observe({ entryTypes: ["gc"] });
    this.arithmeticMs = fastest(300, timeArithmetic);
    this.readingMs = fastest(300, () => timeReads(this.memory));
  }

  apply(engine: Engine, command: Command): void {
    this.commands++;
    if (performance.now() - this.readAtMs > CLOCK_EVERY_MS) {
      this.readMs = this.clock.ms();
      this.readAtMs = performance.now();
    }
    const startMs = performance.now();
    engine.apply(command);
    const endMs = performance.now();
    if (endMs - startMs < NOTABLE_MS) return;
    const cpuMs = this.clock.ms() - this.readMs;
    const wasSlow =
      fastest(3, timeArithmetic) > SLOW * this.arithmeticMs ||
      fastest(3, () => timeReads(this.memory)) > SLOW * this.readingMs;
    this.notable.push({ kind: command.kind, startMs, endMs, cpuMs, wasSlow });
  }

  /**
   * The largest command since the last call: `ms` of processor time without garbage collection, never
   * too low; 0 if none took a millisecond.
   */
  async largest() {
    // Collections are reported in a later turn of the event loop.
    for (let i = 0; i < 3; i++) await setImmediate();
    let ms = 0;
    let kind = "none";
    let above5Ms = 0;
    let longestCollectionMs = 0;
    let leftOut = 0;
    for (const each of this.notable) {
      const collected = this.collectedMs(each.startMs, each.endMs);
      longestCollectionMs = Math.max(longestCollectionMs, collected);
      // No more than either: the collection's share of the processor time is not known.
      const own = Math.min(each.cpuMs, each.endMs - each.startMs - collected);
      if (each.wasSlow) {
        leftOut++;
        continue;
      }
      if (own > 5) above5Ms++;
      if (own <= ms) continue;
      ms = own;
      kind = each.kind;
    }
    const { commands } = this;
    this.notable = [];
    this.commands = 0;
    this.collections.length = 0;
    return { commands, ms, kind, above5Ms, longestCollectionMs, leftOut };
  }

  end(): void {
    this.observer.disconnect();
  }

  private collectedMs(startMs: number, endMs: number): number {
    let sum = 0;
    for (const each of this.collections) {
      sum += Math.max(0, Math.min(endMs, each.endMs) - Math.max(startMs, each.startMs));
    }
    return sum;
  }
}

/** The least of as many measurements. */
export function fastest(runs: number, measure: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, measure());
  return best;
}

/** Reads that depend on each other, spread over all of the memory. */
function timeReads(memory: Int32Array): number {
  const started = performance.now();
  let at = 1;
  let sum = 0;
  for (let i = 0; i < 2_000; i++) {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) & (MEMORY_WORDS - 1);
    sum += memory[at]!;
  }
  if (sum < 0) throw new Error("the loop was optimised away");
  return performance.now() - started;
}

/** About a tenth of a millisecond of arithmetic. */
function timeArithmetic(): number {
  const started = performance.now();
  let mixed = 1;
  for (let i = 0; i < 100_000; i++) mixed = Math.imul(mixed, 1_664_525) + 1_013_904_223;
  if (mixed === 0) throw new Error("the loop was optimised away");
  return performance.now() - started;
}
