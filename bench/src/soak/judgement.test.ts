import { expect, test } from "vitest";
import { isFault, judgeSoak, lowest, type Restart, type SoakSample, slopeOf } from "./judgement.js";

/** Samples of each process: two of ten minutes, and one of half an hour. */
const LIVES = [120, 120, 360];
const SAMPLE_MS = 5_000;
const MB = 1e6;

/** What one sample of a healthy venue shows; `t` counts samples of the whole soak. */
interface Shape {
  readonly anonymous?: (t: number, life: number, age: number) => number;
  readonly heap?: (t: number, life: number, age: number) => number;
  readonly files?: (t: number, life: number, age: number) => number;
  readonly folder?: (t: number) => number;
  readonly p99?: (t: number) => number;
}

function samplesOf(shape: Shape = {}): SoakSample[] {
  const ages = LIVES.flatMap((samples, life) =>
    Array.from({ length: samples }, (_, age) => ({ life, age })),
  );
  return ages.map(({ life, age }, t) => {
    const anonymousBytes = shape.anonymous?.(t, life, age) ?? 200 * MB;
    return {
      atMs: t * SAMPLE_MS,
      life,
      ageMs: age * SAMPLE_MS,
      isAttacked: t % 6 === 0,
      venue: {
        cpuSeconds: t,
        residentBytes: anonymousBytes + 50 * MB,
        anonymousBytes,
        // A sawtooth, as a collected heap makes it.
        heapBytes: shape.heap?.(t, life, age) ?? (60 + 5 * (t % 3)) * MB,
        openFiles: shape.files?.(t, life, age) ?? 150 + (t % 7),
        folderBytes: shape.folder?.(t) ?? 1_500_000 * t,
      },
      load: {
        answered: 4_000,
        p50Ms: 2,
        p99Ms: shape.p99?.(t) ?? 20 + (t % 5),
        maxMs: 100,
        orders: 4_000 * t,
        refused: {},
      },
    };
  });
}

const growing = (samples: readonly SoakSample[], restarts: readonly Restart[] = []): string[] =>
  judgeSoak(samples, restarts)
    .filter(isFault)
    .map(({ what }) => what);

test("judge: a venue that holds its level passes", () => {
  expect(growing(samplesOf())).toEqual([]);
});

test("judge: a process that fills its caches at first passes", () => {
  const anonymous = (_t: number, _life: number, age: number) => Math.min(200, 150 + age * 2) * MB;
  expect(growing(samplesOf({ anonymous }))).toEqual([]);
});

test("judge: memory that grows by 200 MB an hour within each process fails", () => {
  const perSample = (200 * MB * SAMPLE_MS) / 3_600_000;
  const anonymous = (_t: number, _life: number, age: number) => 200 * MB + age * perSample;
  expect(growing(samplesOf({ anonymous }))).toEqual([
    "memory without mapped files, within a process",
  ]);
});

test("judge: memory that goes back to the system every seven minutes passes", () => {
  const perTooth = 420_000 / SAMPLE_MS;
  const anonymous = (_t: number, _life: number, age: number) =>
    (500 + (130 * (age % perTooth)) / perTooth) * MB;
  expect(growing(samplesOf({ anonymous }))).toEqual([]);
});

test("judge: a heap whose floor rises fails, although its teeth hide it", () => {
  const perSample = (150 * MB * SAMPLE_MS) / 3_600_000;
  const heap = (t: number, _life: number, age: number) => (60 + 5 * (t % 3)) * MB + age * perSample;
  expect(growing(samplesOf({ heap }))).toEqual(["heap in use, within a process"]);
});

test("judge: memory that each process begins with more of fails", () => {
  const anonymous = (_t: number, life: number) => (200 + 60 * life) * MB;
  expect(growing(samplesOf({ anonymous }))).toEqual([
    `memory without mapped files, over ${LIVES.length} processes`,
  ]);
});

test("judge: handles that are never closed fail", () => {
  const files = (_t: number, _life: number, age: number) => 150 + age / 2;
  expect(growing(samplesOf({ files }))).toEqual(["open handles, within a process"]);
});

test("judge: orders that take more and more of the disk fail", () => {
  const folder = (t: number) => 1_500_000 * t + 20_000 * t * t;
  expect(growing(samplesOf({ folder }))).toEqual(["data folder, second half against first"]);
});

test("judge: a tail that grows fails", () => {
  const p99 = (t: number) => 20 + t / 10;
  expect(growing(samplesOf({ p99 }))).toEqual(["p99 of an operation, without attack"]);
});

test("judge: a restart that loses an order, or a stop that is not clean, fails", () => {
  const restart = { code: null, readyMs: 1_000, looked: 10, missing: [] };
  const restarts: Restart[] = [
    { ...restart, signal: "SIGKILL" },
    { ...restart, signal: "SIGKILL", missing: ["order 7"] },
    { ...restart, signal: "SIGTERM", code: 1 },
    { ...restart, signal: "SIGTERM", code: 0 },
  ];
  expect(growing(samplesOf(), restarts)).toEqual(["restart 2, SIGKILL", "restart 3, SIGTERM"]);
});

test("judge: processes that lived for a minute say nothing about memory", () => {
  const anonymous = (t: number) => (200 + t) * MB;
  const samples = samplesOf({ anonymous }).filter(({ ageMs }) => ageMs < 60_000);
  const memory = judgeSoak(samples, []).filter(({ what }) => what.startsWith("memory"));
  expect(memory.map(({ isJudged }) => isJudged)).toEqual([false, false]);
});

const line = (count: number, y: (x: number) => number) =>
  Array.from({ length: count }, (_, x) => ({ x, y: y(x) }));

test("slope: a straight line has its own, outliers or not", () => {
  expect(slopeOf(line(20, (x) => 3 * x + 7))).toBe(3);
  expect(slopeOf(line(21, (x) => (x % 5 === 4 ? 1_000 : 3 * x)))).toBe(3);
});

test("slope: noise around a level has next to none", () => {
  expect(Math.abs(slopeOf(line(100, (x) => 50 + (x % 2))))).toBeLessThan(0.02);
});

test("slope: one point, or none, has none", () => {
  expect(slopeOf([])).toBe(0);
  expect(slopeOf([{ x: 1, y: 9 }])).toBe(0);
});

test("lowest: a sawtooth becomes its floor", () => {
  const teeth = line(40, (x) => 100 + (x % 10));
  expect(lowest(teeth, 10)).toEqual([0, 10, 20, 30].map((x) => ({ x, y: 100 })));
});
