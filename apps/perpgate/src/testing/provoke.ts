/**
 * Loaded into a process with `--import`, for tests of how it ends: on SIGUSR2 the main thread does
 * what PROVOKE says.
 *
 *   throw    throws an exception that nobody catches
 *   reject   rejects a promise that nobody handles
 *   busy     writes PROVOKE_TEXT to the file PROVOKE_FILE, then loops for ever
 *   mute     fills standard error, which the test does not read, writes PROVOKE_FILE, then throws
 *   heap     keeps more and more objects, a little in each turn of the event loop
 *   pool     blocks every thread of the pool with reads of PROVOKE_FILE, a pipe, then throws
 */

import { readFile, writeFileSync } from "node:fs";
import { isMainThread, Worker } from "node:worker_threads";

const POOL_THREADS = 4;
/** Of a kilobyte each. With more of them a starved machine spends so long in collections that V8 gives up first. */
const KEPT_IN_A_TURN = 30;
/** Less than any pipe or socket buffers before it is full. */
const LEAST_BUFFER_BYTES = 60_000;
/** Checks, 200 ms apart, without another byte written. */
const QUIET_CHECKS = 5;

const ACTIONS: Readonly<Record<string, () => void>> = {
  throw: () => {
    throw new Error("provoked by a test");
  },
  reject: () => void Promise.reject(new Error("provoked by a test")),
  busy: () => {
    writeFileSync(process.env.PROVOKE_FILE ?? "", process.env.PROVOKE_TEXT ?? "");
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
          // Full and non-blocking.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
        }
      }`;
    new Worker(source, { eval: true, workerData: written.buffer });
    let before = 0;
    let quiet = 0;
    const timer = setInterval(() => {
      const now = Atomics.load(written, 0);
      quiet = now >= LEAST_BUFFER_BYTES && now === before ? quiet + 1 : 0;
      before = now;
      if (quiet < QUIET_CHECKS) return;
      clearInterval(timer);
      writeFileSync(process.env.PROVOKE_FILE ?? "", "");
      throw new Error("provoked by a test");
    }, 200);
  },
  heap: () => {
    const kept: number[][] = [];
    setInterval(() => {
      for (let at = 0; at < KEPT_IN_A_TURN; at++) kept.push(new Array(128).fill(at));
    });
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
