/**
 * Loaded into a process with `--import`, for tests of how it ends: on SIGUSR2 the main thread does
 * what PROVOKE says.
 *
 *   throw    an exception that nobody catches
 *   reject   a rejected promise that nobody handles
 *   busy     makes the file PROVOKE_FILE, then loops for ever
 *   mute     fills standard error, which the test does not read, then throws
 *   pool     occupies every thread of the pool with reads of PROVOKE_FILE, a pipe, then throws
 */

import { readFile, writeFileSync } from "node:fs";
import { isMainThread, Worker } from "node:worker_threads";

const POOL_THREADS = 4;
/** Less than any pipe or socket takes before it is full. */
const LEAST_BUFFER_BYTES = 60_000;
/** Looks, 200 ms apart, that find no further byte written. */
const STILL_LOOKS = 5;

const ACTIONS: Readonly<Record<string, () => void>> = {
  throw: () => {
    throw new Error("provoked by a test");
  },
  reject: () => void Promise.reject(new Error("provoked by a test")),
  busy: () => {
    writeFileSync(process.env.PROVOKE_FILE ?? "", "");
    for (;;);
  },
  mute: () => {
    const written = new Int32Array(new SharedArrayBuffer(4));
    const source = `
      const written = new Int32Array(require("node:worker_threads").workerData);
      for (;;) {
        try {
          Atomics.add(written, 0, require("node:fs").writeSync(2, "x".repeat(4_096)));
        } catch {
          // Full, and one that does not block.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        }
      }`;
    new Worker(source, { eval: true, workerData: written.buffer });
    let before = 0;
    let still = 0;
    const timer = setInterval(() => {
      const now = Atomics.load(written, 0);
      still = now >= LEAST_BUFFER_BYTES && now === before ? still + 1 : 0;
      before = now;
      if (still < STILL_LOOKS) return;
      clearInterval(timer);
      throw new Error("provoked by a test");
    }, 200);
  },
  pool: () => {
    const endless = process.env.PROVOKE_FILE ?? "";
    for (let at = 0; at < POOL_THREADS; at++) readFile(endless, () => undefined);
    throw new Error("provoked by a test");
  },
};

if (isMainThread) {
  process.on("SIGUSR2", () =>
    setImmediate(ACTIONS[process.env.PROVOKE ?? ""] ?? (() => undefined)),
  );
}
