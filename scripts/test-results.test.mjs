import { describe, expect, test } from "vitest";
import {
  countResults,
  failSkipped,
  filesToRepeat,
  lateNames,
  skippedNames,
  summaryLine,
  timesTable,
  withRepeated,
} from "./test-results.mjs";
import { LONG_FORMS } from "./testing/long-forms.mjs";

const file = (path, passed, failed = 0, ...messages) => {
  const errors = messages.map((message) => ({ name: "a test", message }));
  const isFailed = failed > 0 || errors.length > 0;
  return { path, isFailed, passed, failed, skipped: [], errors, ms: 1_500 };
};
const run = (...files) => ({ files, unhandled: 0 });
const PROCESS = "apps/perpgate/src/serve/process.system.test.ts";
const KILLS = "apps/perpgate/src/cluster/kills.system.test.ts";
const LATE = "Test timed out in 180000ms.\nIf this is a long-running test, …";

describe("closing line", () => {
  test("a clean run", () => {
    const results = run(file(PROCESS, 2), file(KILLS, 1));
    expect(summaryLine(countResults(results, true))).toBe("3 passed, 0 failed");
  });

  test("skipped tests are named", () => {
    const results = run({ ...file(PROCESS, 3), skipped: ["clocks > one", "another"] });
    const counts = countResults(results, true);
    expect(summaryLine(counts)).toBe("3 passed, 0 failed, 2 skipped");
    expect(skippedNames(results)).toEqual([`${PROCESS}: clocks > one`, `${PROCESS}: another`]);
  });

  test("where nothing may be skipped, what was has failed", () => {
    const results = run({ ...file(PROCESS, 3), skipped: ["one"] }, file(KILLS, 2, 1, "expected"));
    expect(summaryLine(failSkipped(countResults(results, false)))).toBe("5 passed, 2 failed");
    expect(summaryLine(failSkipped(countResults(run(file(KILLS, 2)), true)))).toBe(
      "2 passed, 0 failed",
    );
    expect(skippedNames(undefined)).toEqual([]);
  });

  test("a file that cannot be loaded counts as a failure", () => {
    const results = run(file(PROCESS, 0, 0, "no such module"), file(KILLS, 2, 1, "expected 1"));
    expect(summaryLine(countResults(results, false))).toBe("2 passed, 2 failed");
  });

  test("a crash without results, an error outside any test, or no test at all is a failure", () => {
    expect(summaryLine(countResults(undefined, false))).toBe("0 passed, 1 failed");
    expect(summaryLine(countResults(run(file(PROCESS, 2)), false))).toBe("2 passed, 1 failed");
    expect(summaryLine(countResults(run(), true))).toBe("0 passed, 1 failed");
  });

  test("every test that was late is counted and named, whatever its second result", () => {
    const first = run(file(PROCESS, 2, 1, LATE), file(KILLS, 3));
    const late = lateNames(first);
    const lineAfter = (again, succeeded) => {
      const both = withRepeated(
        { results: first, succeeded: false },
        { results: again, succeeded },
      );
      return summaryLine({ ...countResults(both.results, both.succeeded), late });
    };
    expect(lineAfter(run(file(PROCESS, 3)), true)).toBe(
      `6 passed, 0 failed, 1 late and run twice (${PROCESS}: a test)`,
    );
    expect(lineAfter(run(file(PROCESS, 2, 1, LATE)), false)).toBe(
      `5 passed, 1 failed, 1 late and run twice (${PROCESS}: a test)`,
    );
  });
});

describe("errors outside any test", () => {
  const outcome = (results, succeeded) => ({ results, succeeded });

  test("one in the first run counts, although the second of the late file passes", () => {
    const first = { ...run(file(PROCESS, 2, 1, LATE), file(KILLS, 3)), unhandled: 1 };
    const { results, succeeded } = withRepeated(
      outcome(first, false),
      outcome(run(file(PROCESS, 3)), true),
    );
    expect(summaryLine(countResults(results, succeeded))).toBe("6 passed, 1 failed");
  });

  test("each counts, next to failed tests", () => {
    const results = { ...run(file(PROCESS, 2, 1, "expected 1 to be 2")), unhandled: 2 };
    expect(summaryLine(countResults(results, false))).toBe("2 passed, 3 failed");
  });

  test("those of both runs count", () => {
    const first = { ...run(file(PROCESS, 2, 1, LATE)), unhandled: 1 };
    const again = { ...run(file(PROCESS, 3)), unhandled: 1 };
    const { results, succeeded } = withRepeated(outcome(first, false), outcome(again, false));
    expect(summaryLine(countResults(results, succeeded))).toBe("3 passed, 2 failed");
  });
});

describe("files that run again", () => {
  test.each([
    LATE,
    "Hook timed out in 180000ms.",
    "too late: the index is not fresh after 30 s",
    "locator.click: Timeout 30000ms exceeded.",
  ])("late by the clock: %s", (message) => {
    expect(filesToRepeat(run(file(PROCESS, 2, 1, message), file(KILLS, 9)))).toEqual([PROCESS]);
  });

  test.each([
    "expected 1 to be 2",
    "expected 'Test timed out in 5ms' to be 'ok'",
    "the request timed out",
    "expected 310.5 to be less than 300",
    "nonce 17: answered, but not in the log",
  ])("a failed assertion does not: %s", (message) => {
    expect(filesToRepeat(run(file(PROCESS, 2, 1, message)))).toEqual([]);
    expect(filesToRepeat(run(file(PROCESS, 2, 2, LATE, message)))).toEqual([]);
  });

  test("a file that cannot be loaded, and a crash, do not", () => {
    expect(filesToRepeat(run({ ...file(PROCESS, 0), isFailed: true }))).toEqual([]);
    expect(filesToRepeat(undefined)).toEqual([]);
  });

  test("one that fails by assertion does not keep a late one from its second run", () => {
    const results = run(file(PROCESS, 2, 1, "expected 1 to be 2"), file(KILLS, 1, 1, LATE));
    expect(filesToRepeat(results)).toEqual([KILLS]);
  });

  test("without a second result the first counts", () => {
    const first = { results: run(file(PROCESS, 2, 1, LATE)), succeeded: false };
    expect(withRepeated(first, { results: undefined, succeeded: false })).toEqual(first);
  });
});

test("times: the longest file first, and the sum", () => {
  const table = timesTable(run(file(KILLS, 1), { ...file(PROCESS, 2), ms: 2_000 }));
  expect(table.split("\n").slice(1)).toEqual([
    `     2.0 s      2  ${PROCESS}`,
    `     1.5 s      1  ${KILLS}`,
    "     3.5 s      3  all 2 files",
  ]);
});

test("long forms: each names files and what it sets", () => {
  for (const { about, files, env } of Object.values(LONG_FORMS)) {
    expect(about).not.toBe("");
    expect(files.length).toBeGreaterThan(0);
    expect(Object.keys(env).length).toBeGreaterThan(0);
  }
});
