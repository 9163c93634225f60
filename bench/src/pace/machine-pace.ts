/**
 * Watches the machine's own speed beside a measurement, and tells the stretches in which it was
 * slow. A shared machine can be ten times slower for some ten milliseconds every second or two;
 * the tail of any latency is then the machine's, and says nothing of the program.
 */
import { firstMessage, forkScript } from "../orders/processes.js";
import { median } from "../report.js";
import type { Sample } from "./probe.js";

/** Part of the machine's clock; both ends belong to it. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Pace {
  readonly slow: readonly Stretch[];
  /** Of the time watched. */
  readonly slowShare: number;
}

/** A sample that costs so many times the middle one is slow. */
const SLOW = 1.5;
/** So long after the one before, a sample that is due every two is slow whatever it cost. */
const LATE_MS = 8;
/** Slow samples so close to each other are one stretch. */
const TOGETHER_MS = 8;
/** One alone may be an interrupt. */
const LEAST_SAMPLES = 2;
/** The processor's speed falls and rises somewhere between two samples. */
const MARGIN_MS = 4;

const PROBE = new URL("./probe.js", import.meta.url);

/** Runs `work` and tells how the machine ran meanwhile. */
export async function watchingPace<T>(work: () => Promise<T>): Promise<{ result: T; pace: Pace }> {
  const probe = forkScript(PROBE, []);
  await firstMessage(probe);
  try {
    const result = await work();
    const said = firstMessage(probe);
    probe.send("stop");
    return { result, pace: paceOf((await said) as readonly Sample[]) };
  } finally {
    probe.kill();
  }
}

export function paceOf(samples: readonly Sample[]): Pace {
  const usualUs = median(samples.map(({ costUs }) => costUs));
  const slow: Stretch[] = [];
  let open: { fromMs: number; toMs: number; count: number } | undefined;
  const close = (): void => {
    if (open !== undefined && open.count >= LEAST_SAMPLES) {
      slow.push({ fromMs: open.fromMs - MARGIN_MS, toMs: open.toMs + MARGIN_MS });
    }
    open = undefined;
  };
  let beforeMs = samples[0]?.atMs ?? 0;
  for (const { atMs, costUs } of samples) {
    const isLate = atMs - beforeMs > LATE_MS;
    if (isLate || costUs > SLOW * usualUs) {
      const fromMs = isLate ? beforeMs : atMs;
      if (open === undefined || fromMs - open.toMs > TOGETHER_MS) {
        close();
        open = { fromMs, toMs: atMs, count: 0 };
      }
      open.toMs = atMs;
      open.count += isLate ? LEAST_SAMPLES : 1;
    }
    beforeMs = atMs;
  }
  close();
  const watchedMs = beforeMs - (samples[0]?.atMs ?? 0);
  const slowMs = slow.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return { slow, slowShare: watchedMs > 0 ? slowMs / watchedMs : 0 };
}
