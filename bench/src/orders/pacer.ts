/**
 * Wakes the load when its next request is due. Timers of the event loop have steps of a
 * millisecond, so that at some thousand requests a second they would send in bursts and the second
 * of a burst would wait for the first; a loop that polls the clock would take a core from the
 * server. So a thread of its own sleeps until each due time and posts a message.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

interface Pace {
  /** Of the clock that all threads share. */
  readonly startNs: bigint;
  readonly gapNs: number;
  readonly count: number;
}

/** `onDue` is called once for each of `count` due times, never early; it may be late. */
export function startPacer(
  startNs: bigint,
  gapNs: number,
  count: number,
  onDue: () => void,
): Worker {
  const workerData: Pace = { startNs, gapNs, count };
  const worker = new Worker(new URL(import.meta.url), { workerData });
  worker.on("message", onDue);
  worker.on("error", (error) => {
    throw error;
  });
  return worker;
}

function keepPace({ startNs, gapNs, count }: Pace): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < count; i++) {
    const dueNs = startNs + BigInt(Math.round(i * gapNs));
    for (;;) {
      const leftNs = Number(dueNs - process.hrtime.bigint());
      if (leftNs <= 0) break;
      Atomics.wait(sleeper, 0, 0, leftNs / 1e6);
    }
    parentPort?.postMessage(0);
  }
}

if (!isMainThread) keepPace(workerData);
