import { describe, expect, test } from "vitest";
import { paceOf } from "./machine-pace.js";
import type { Watched } from "./probe.js";
import { undisturbed } from "./undisturbed.js";

/** A sample every two milliseconds, of 20 µs where nothing else is said. */
function watched(count: number, costs: Readonly<Record<number, number>> = {}): Watched {
  const atMs = Array.from({ length: count }, (_, i) => 2 * i);
  const samples = atMs.map((ms) => ({ atMs: ms, costUs: costs[ms] ?? 20 }));
  return { samples, isPreferred: true };
}

describe("the machine's pace", () => {
  test("samples that cost more than usual, close to each other: one slow stretch with its margins", () => {
    const { slow, slowShare } = paceOf(watched(501, { 100: 200, 102: 90, 108: 40 }));
    expect(slow).toEqual([{ fromMs: 96, toMs: 112 }]);
    expect(slowShare).toBeCloseTo(0.016);
  });

  test("one sample alone: an interrupt, not the machine", () => {
    expect(paceOf(watched(100, { 50: 400 })).slow).toEqual([]);
  });

  test("no sample for a while: slow from the last to the next, unless the load may have been it", () => {
    const samples = watched(100).samples.filter(({ atMs }) => atMs <= 40 || atMs >= 90);
    expect(paceOf({ samples, isPreferred: true }).slow).toEqual([{ fromMs: 36, toMs: 94 }]);
    expect(paceOf({ samples, isPreferred: false }).slow).toEqual([]);
  });

  test("nothing watched: nothing slow", () => {
    expect(paceOf({ samples: [], isPreferred: true })).toEqual({ slow: [], slowShare: 0 });
  });
});

describe("orders that the machine left alone", () => {
  const of = (dueLatenciesMs: readonly number[]) => ({
    firstDueMs: 1_000,
    gapMs: 10,
    dueLatenciesMs,
  });

  test("each alone: those that overlap a stretch go, also by their waiting", () => {
    const kept = undisturbed(of([1, 1, 8, 1, 1]), [{ fromMs: 1_025, toMs: 1_026 }]);
    expect(kept).toEqual([0, 1, 3, 4]);
  });

  test("a queue that a stretch left behind goes whole, also what came after the stretch", () => {
    const kept = undisturbed(of([1, 30, 25, 16, 9, 1]), [{ fromMs: 1_012, toMs: 1_014 }]);
    expect(kept).toEqual([0, 5]);
  });

  test("a queue that no stretch touches counts: it is the server's own", () => {
    const kept = undisturbed(of([1, 30, 25, 16, 9, 1]), [{ fromMs: 1_052, toMs: 1_060 }]);
    expect(kept).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("none: none", () => {
    expect(undisturbed(of([]), [])).toEqual([]);
  });
});
