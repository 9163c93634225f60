/**
 * Sends each order when it is due, from a thread that sleeps meanwhile. Timers of an event loop have
 * steps of a millisecond, so that at some thousand orders a second they would send in bursts and the
 * second of a burst would wait for the first; a loop that polls the clock would take a core from the
 * server. So a thread of its own sleeps until each due time and writes to the socket itself.
 */
import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { InFlight, type SharedFlight } from "./in-flight.js";

interface Pace {
  readonly flight: SharedFlight;
  /** The system's number of each connection's socket. */
  readonly descriptors: readonly number[];
  /** Of the clock that all threads share. */
  readonly startNs: bigint;
  readonly gapNs: number;
}

/** Never sends early; it may be late. */
export function startPacedSender(pace: Pace): void {
  const worker = new Worker(new URL(import.meta.url), { workerData: pace });
  worker.on("error", (error) => {
    throw error;
  });
}

function keepPace({ flight: shared, descriptors, startNs, gapNs }: Pace): void {
  const flight = new InFlight(shared);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let order = 0; order < flight.count; order++) {
    const dueNs = startNs + BigInt(Math.round(order * gapNs));
    for (;;) {
      const leftNs = Number(dueNs - process.hrtime.bigint());
      if (leftNs <= 0) break;
      Atomics.wait(sleeper, 0, 0, leftNs / 1e6);
    }
    const connection = flight.takeIdle();
    const request = flight.request(order);
    flight.setOrderOn(connection, order);
    flight.dueNs[order] = dueNs;
    flight.sentNs[order] = process.hrtime.bigint();
    const written = writeSync(descriptors[connection]!, request);
    // A socket with nothing under way takes a whole order; one that does not has lost its server.
    if (written < request.length) throw new Error(`only ${written} bytes of an order were taken`);
  }
}

if (!isMainThread) keepPace(workerData);
