import { expect, test } from "vitest";
import { ATTACK_KINDS, ATTACKS } from "./table.js";
import { faultsOf, type TrialRun, type VenueCost } from "./trial/verdict.js";
import { newTally } from "./wire/line.js";

test("the table: 154 attacks of every kind, each with one name and one sentence", () => {
  expect(ATTACKS).toHaveLength(154);
  expect(new Set(ATTACKS.map(({ name }) => name)).size).toBe(ATTACKS.length);
  expect(ATTACK_KINDS).toHaveLength(11);
  for (const { name, shows } of ATTACKS) expect(shows, name).toMatch(/^[A-Z0-9].*\.$/);
});

const run = (changes: Partial<TrialRun> = {}): TrialRun => ({
  tally: newTally(),
  medianMs: 3,
  maxMs: 50,
  operations: 100,
  unanswered: 0,
  refused: {},
  ...changes,
});
const cost: VenueCost = {
  cpuSeconds: 1,
  logBytes: 0,
  busyAfterMs: 0,
  residentGrowthBytes: 0,
  filesLeftOpen: 0,
  isAlive: true,
};

test("verdict: a venue that serves the trader as before passes", () => {
  expect(faultsOf(run({ medianMs: 14 }), run(), cost)).toEqual([]);
});

test.each<[string, Partial<TrialRun>]>([
  ["a median of 5 times the discarded", { medianMs: 15 }],
  ["a median of 40 ms", { medianMs: 40 }],
  ["an order that waits a second", { maxMs: 1_000 }],
  ["an order without an answer", { unanswered: 1 }],
  ["an honest order that is refused", { refused: { "503 overloaded": 1 } }],
])("verdict: %s fails", (_name, changes) => {
  const discarded = run({ medianMs: changes.medianMs === 40 ? 20 : 3 });
  expect(faultsOf(run(changes), discarded, cost)).toHaveLength(1);
});

test("verdict: a venue that ended fails", () => {
  expect(faultsOf(run(), run(), { ...cost, isAlive: false })).toEqual(["the venue ended"]);
});
