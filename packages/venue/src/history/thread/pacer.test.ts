import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { Pacer } from "./pacer.js";

const LONG_MS = 3_600_000;

function requestFlush(signals: SharedArrayBuffer): void {
  const cell = new Int32Array(signals);
  Atomics.add(cell, 0, 1);
  Atomics.notify(cell, 0);
}

describe("Pacer", () => {
  test("next: returns no earlier than the step is due", () => {
    const pacer = new Pacer(new SharedArrayBuffer(4));
    const started = performance.now();
    pacer.begin(10, 100);
    for (let step = 1; step <= 10; step++) {
      pacer.next();
      // The system's timer may be early by less than a millisecond.
      expect(performance.now() - started).toBeGreaterThan(10 * step - 1);
    }
  });

  test("next: a flush requested before begin: no pause until it is served", () => {
    const signals = new SharedArrayBuffer(4);
    const pacer = new Pacer(signals);
    requestFlush(signals);
    pacer.begin(10, LONG_MS);
    for (let step = 1; step <= 10; step++) pacer.next();
    pacer.served(1);
    const started = performance.now();
    pacer.begin(1, 50);
    pacer.next();
    expect(performance.now() - started).toBeGreaterThan(49);
  });

  test("next: a flush requested during the wait: wakes, and pauses no more", async () => {
    const signals = new SharedArrayBuffer(4);
    const pacer = new Pacer(signals);
    const script = `
      const { workerData } = require("node:worker_threads");
      const cell = new Int32Array(workerData);
      setTimeout(() => { Atomics.add(cell, 0, 1); Atomics.notify(cell, 0); }, 50);
    `;
    const requester = new Worker(script, { eval: true, workerData: signals });
    await new Promise((resolve) => requester.once("online", resolve));
    pacer.begin(10, LONG_MS);
    for (let step = 1; step <= 10; step++) pacer.next();
    expect(Atomics.load(new Int32Array(signals), 0)).toBe(1);
    await requester.terminate();
  });
});
