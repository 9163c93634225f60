/**
 * Does the same small piece of arithmetic every two milliseconds and says what each cost. It touches
 * next to no memory and waits for nobody, so a piece that costs much more than the others says that
 * the processor itself was slow at that moment: throttled, or taken by a neighbour of the
 * virtual machine without being counted as stolen.
 *
 * The cost is processor time, not time on the clock, so that waiting for a core that another
 * process has is no slowness. The process takes a few hundredths of a core, beside every
 * server alike, and asks for the highest priority, so that its samples are on time.
 */
import { setPriority } from "node:os";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

export interface Sample {
  /** When it began, on the clock that all processes share. */
  readonly atMs: number;
  /** Processor time. */
  readonly costUs: number;
}

/** What a probe says at the end. */
export interface Watched {
  readonly samples: readonly Sample[];
  /** Whether it had the priority it asked for: without, a late sample may be the load's doing. */
  readonly isPreferred: boolean;
}

const HIGHEST_PRIORITY = -20;
const EVERY_MS = 2;
const STEPS = 8_000;
const WARM_UP = 200;
/** Of more than three minutes; a longer measurement is watched no further. */
const MOST_SAMPLES = 100_000;

let accumulator = 1;

function work(): void {
  let value = accumulator;
  for (let i = 0; i < STEPS; i++) value = (Math.imul(value, 1_664_525) + i) | 0;
  accumulator = value;
}

function usedUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function isThisThreadPreferred(): boolean {
  try {
    setPriority(HIGHEST_PRIORITY);
    return true;
  } catch {
    return false;
  }
}

/** Samples until the cell is set. Sleeps between them: timers of an event loop cost far more. */
function sample(cell: Int32Array): Sample[] {
  const samples: Sample[] = [];
  while (Atomics.wait(cell, 0, 0, EVERY_MS) === "timed-out") {
    if (samples.length === MOST_SAMPLES) continue;
    const atMs = Number(process.hrtime.bigint()) / 1e6;
    const before = usedUs();
    work();
    samples.push({ atMs, costUs: usedUs() - before });
  }
  return samples;
}

if (isMainThread) {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const sampler = new Worker(new URL(import.meta.url), { workerData: cell });
  sampler.once("online", () => process.send?.("ready"));
  sampler.once("message", (watched: Watched) => {
    process.send?.(watched, () => process.disconnect());
  });
  process.once("message", () => {
    Atomics.store(cell, 0, 1);
    Atomics.notify(cell, 0);
  });
} else {
  const isPreferred = isThisThreadPreferred();
  for (let i = 0; i < WARM_UP; i++) work();
  const watched: Watched = { samples: sample(workerData), isPreferred };
  parentPort?.postMessage(watched);
}
