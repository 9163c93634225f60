import { expect, test } from "vitest";
import { longestTaskIn } from "./frames.js";

const PAGE = { pid: 1, tid: 1 };
const BLANK = { pid: 2, tid: 1 };

/** A page with one task from 100 to 300 ms, and pieces of the blank page at every 50 ms. */
function traceWith(pieceMs: (atMs: number) => number) {
  const pieces = [0, 50, 100, 150, 200, 250, 300, 350].flatMap((atMs) => [
    { ...BLANK, name: "RunTask", ts: atMs * 1e3, dur: 10e3, tdur: pieceMs(atMs) * 1e3 },
    { ...BLANK, name: "perpgate-piece", ts: atMs * 1e3 + 1 },
  ]);
  return [
    { ...PAGE, name: "thread_name", args: { name: "CrRendererMain" } },
    { ...BLANK, name: "thread_name", args: { name: "CrRendererMain" } },
    { ...PAGE, name: "RunTask", ts: 100e3, dur: 200e3, tdur: 200e3 },
    ...pieces,
  ];
}

test.each([
  ["of steady pace: all of it", () => 3, 200],
  [
    "that was slow for a part of it: less",
    (atMs: number) => (atMs <= 100 ? 30 : 3),
    200 * (5.2 / 7),
  ],
  ["that was faster for a moment: all of it", (atMs: number) => (atMs === 200 ? 1 : 3), 200],
] as const)("a task on a machine %s", (_, pieceMs, expected) => {
  expect(longestTaskIn(traceWith(pieceMs))).toBeCloseTo(expected, 6);
});
