import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { EvenPace } from "./even-pace.js";

const LONG_MS = 3_600_000;

function ring(rings: SharedArrayBuffer): void {
  const cell = new Int32Array(rings);
  Atomics.add(cell, 0, 1);
  Atomics.notify(cell, 0);
}

describe("work at an even pace", () => {
  test("steps are not done before they are due", () => {
    const pace = new EvenPace(new SharedArrayBuffer(4));
    const started = performance.now();
    pace.begin(10, 100);
    for (let step = 1; step <= 10; step++) {
      pace.next();
      // The system's timer may be early by less than a millisecond.
      expect(performance.now() - started).toBeGreaterThan(10 * step - 1);
    }
  });

  test("somebody hurries before it begins: no pause", () => {
    const rings = new SharedArrayBuffer(4);
    const pace = new EvenPace(rings);
    ring(rings);
    pace.begin(10, LONG_MS);
    for (let step = 1; step <= 10; step++) pace.next();
    pace.heed(1);
    const started = performance.now();
    pace.begin(1, 50);
    pace.next();
    expect(performance.now() - started).toBeGreaterThan(49);
  });

  test("somebody hurries while it sleeps: it goes on, and pauses no more", async () => {
    const rings = new SharedArrayBuffer(4);
    const pace = new EvenPace(rings);
    const script = `
      const { workerData } = require("node:worker_threads");
      const cell = new Int32Array(workerData);
      setTimeout(() => { Atomics.add(cell, 0, 1); Atomics.notify(cell, 0); }, 50);
    `;
    const ringer = new Worker(script, { eval: true, workerData: rings });
    await new Promise((resolve) => ringer.once("online", resolve));
    pace.begin(10, LONG_MS);
    for (let step = 1; step <= 10; step++) pace.next();
    expect(Atomics.load(new Int32Array(rings), 0)).toBe(1);
    await ringer.terminate();
  });
});
