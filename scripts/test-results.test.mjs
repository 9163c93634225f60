import { describe, expect, test } from "vitest";
import { countResults, filesToRepeat, summaryLine, withRepeated } from "./test-results.mjs";

const file = (path, passed, failed = 0, ...errors) => {
  const named = errors.map((each) =>
    typeof each === "string" ? { name: "", message: each } : each,
  );
  const isFailed = failed > 0 || errors.length > 0;
  return { path, isFailed, passed, failed, skipped: 0, errors: named };
};
const run = (...files) => ({ files, unhandled: 0 });
const PROCESS = "apps/perpgate/src/serve/process.test.ts";
const KILLS = "apps/perpgate/src/cluster/kills.test.ts";
const LATE = "Test timed out in 180000ms.";

describe("closing line", () => {
  test("a clean run", () => {
    const results = run(file(PROCESS, 2), file(KILLS, 1));
    expect(summaryLine(countResults(results, true))).toBe("3 passed, 0 failed");
  });

  test("skipped tests are named", () => {
    const results = run({ ...file(PROCESS, 3), skipped: 2 });
    expect(summaryLine(countResults(results, true))).toBe("3 passed, 0 failed, 2 skipped");
  });

  test("a file that cannot be loaded counts as a failure", () => {
    const results = run(file(PROCESS, 0, 0, "no such module"), file(KILLS, 2, 1, "expected 1"));
    expect(summaryLine(countResults(results, false))).toBe("2 passed, 2 failed");
  });

  test("a crash without results, or an error outside any test, is a failure", () => {
    expect(summaryLine(countResults(undefined, false))).toBe("0 passed, 1 failed");
    expect(summaryLine(countResults(run(file(PROCESS, 2)), false))).toBe("2 passed, 1 failed");
  });
});

describe("files that run again", () => {
  test("what failed in a test of processes; what passed does not run again", () => {
    const results = run(file(PROCESS, 2, 1, "expected 1 to be 2"), file(KILLS, 9));
    expect(filesToRepeat(results)).toEqual([PROCESS]);
  });

  test("the second result counts, and the line says that there was one", () => {
    const first = run(file(PROCESS, 2, 1, LATE), file(KILLS, 9));
    const counts = countResults(withRepeated(first, run(file(PROCESS, 3))), true);
    expect(summaryLine({ ...counts, repeated: 1 })).toBe("12 passed, 0 failed, files run twice: 1");
    const failing = run(file(PROCESS, 2, 1, LATE));
    expect(countResults(withRepeated(first, failing), false).failed).toBe(1);
    expect(countResults(withRepeated(first, undefined), false).failed).toBe(1);
  });

  test("an error outside any test of the second run is a failure", () => {
    const first = run(file(PROCESS, 2, 1, LATE));
    const second = { ...run(file(PROCESS, 3)), unhandled: 1 };
    expect(countResults(withRepeated(first, second), false).failed).toBe(1);
  });

  test("never what is computed from seeds alone", () => {
    const engine = "packages/engine/src/testing/agreement.test.ts";
    expect(filesToRepeat(run(file(engine, 2, 1, LATE)))).toEqual([]);
    expect(filesToRepeat(run(file(engine, 2, 1, "x"), file(PROCESS, 1, 1, LATE)))).toEqual([]);
  });

  test("a test that looks for lost orders: only if it was late", () => {
    expect(filesToRepeat(run(file(KILLS, 2, 2, LATE, "TimeoutError: timeout")))).toEqual([KILLS]);
    const found = "expected [] to equal [7]";
    const crash = "packages/venue/src/crash.test.ts";
    expect(filesToRepeat(run(file(crash, 2, 2, LATE, found)))).toEqual([]);
    expect(filesToRepeat(run(file(crash, 2, 1, LATE)))).toEqual([crash]);
    const audit = { name: "afterwards: nothing lost, nothing twice", message: found };
    expect(filesToRepeat(run(file(KILLS, 2, 1, audit)))).toEqual([]);
    expect(filesToRepeat(run(file(KILLS, 2, 1, found)))).toEqual([KILLS]);
    const disk = "apps/perpgate/src/serve/exit/disk-faults.test.ts";
    expect(filesToRepeat(run(file(disk, 2, 1, "nonce 7: expected undefined to be 12")))).toEqual(
      [],
    );
    expect(filesToRepeat(run(file(disk, 2, 1, "runs after 5000 ms")))).toEqual([disk]);
  });

  test("not after an error outside any test, many failures, or a crash", () => {
    const late = file(PROCESS, 2, 1, LATE);
    expect(filesToRepeat({ ...run(late), unhandled: 1 })).toEqual([]);
    const many = Array.from({ length: 9 }, (_, at) => file(`apps/terminal/${at}.test.ts`, 0, 1));
    expect(filesToRepeat(run(...many))).toEqual([]);
    expect(filesToRepeat(undefined)).toEqual([]);
  });
});
