/**
 * Watches the machine's own speed beside a measurement, and tells the stretches in which it was
 * slow. A shared machine can be ten times slower for some ten milliseconds every second or two;
 * the tail of any latency is then the machine's, and says nothing of the program.
 */
import type { ChildProcess } from "node:child_process";
import { availableParallelism } from "node:os";
import { firstMessage, forkScript, UNCOLLECTED } from "../orders/processes.js";
import { median } from "../report.js";
import type { Watched } from "./probe.js";

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

/** More would be a load of their own; on a machine with more, a server finds a core that is not slow. */
const MOST_CORES = 4;

const PROBE = new URL("./probe.js", import.meta.url);

/** Runs `work` and tells how the machine ran meanwhile. */
export async function watchingPace<T>(work: () => Promise<T>): Promise<{ result: T; pace: Pace }> {
  const probes = await startProbes();
  try {
    const result = await work();
    const watched = await Promise.all(probes.map(endOf));
    return { result, pace: slowest(watched.map(paceOf)) };
  } finally {
    for (const probe of probes) probe.kill();
  }
}

/** One on each core where that can be asked for, since one core may be slow alone; else one. */
async function startProbes(): Promise<ChildProcess[]> {
  const cores = Array.from({ length: Math.min(MOST_CORES, availableParallelism()) }, (_, i) => i);
  const pinned = cores.map((core) =>
    forkScript(PROBE, [], {
      execPath: "taskset",
      execArgv: ["--cpu-list", String(core), process.execPath, ...UNCOLLECTED],
    }),
  );
  try {
    await Promise.all(pinned.map(firstMessage));
    return pinned;
  } catch {
    for (const probe of pinned) probe.kill();
    const anywhere = forkScript(PROBE, [], { execArgv: UNCOLLECTED });
    await firstMessage(anywhere);
    return [anywhere];
  }
}

async function endOf(probe: ChildProcess): Promise<Watched> {
  const said = firstMessage(probe);
  probe.send("stop");
  return (await said) as Watched;
}

/** All stretches in which some core was slow; the share is that of the core that was slow longest. */
function slowest(paces: readonly Pace[]): Pace {
  return {
    slow: paces.flatMap(({ slow }) => slow),
    slowShare: Math.max(...paces.map(({ slowShare }) => slowShare)),
  };
}

export function paceOf({ samples, isPreferred }: Watched): Pace {
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
    const isLate = isPreferred && atMs - beforeMs > LATE_MS;
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
