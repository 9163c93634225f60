import { describe, expect, test } from "vitest";
import {
  countResults,
  failSkipped,
  filesToRepeat,
  skippedNames,
  summaryLine,
  withRepeated,
} from "./test-results.mjs";

const file = (path, passed, failed = 0, ...errors) => {
  const named = errors.map((each) =>
    typeof each === "string" ? { name: "", message: each } : each,
  );
  const isFailed = failed > 0 || errors.length > 0;
  return { path, isFailed, passed, failed, skipped: [], errors: named };
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
    expect(filesToRepeat(run(file(PROCESS, 2, 1, audit)))).toEqual([]);
    expect(filesToRepeat(run(file(PROCESS, 2, 1, found)))).toEqual([PROCESS]);
    const disk = "apps/perpgate/src/serve/exit/disk-faults.test.ts";
    expect(filesToRepeat(run(file(disk, 2, 1, "nonce 7: expected undefined to be 12")))).toEqual(
      [],
    );
    expect(filesToRepeat(run(file(disk, 2, 1, "runs after 5000 ms")))).toEqual([disk]);
    const canceled = "order 123: expected 7 to be greater than 9";
    expect(filesToRepeat(run(file(disk, 2, 1, canceled)))).toEqual([]);
  });

  test.each([
    ["outcomes", "afterwards nothing is lost or doubled, and all agree", "expected { … } to equal"],
    ["outcomes", "afterwards nothing is lost or doubled", "gateway-1 of 12: expected 26 to be 25"],
    ["kills", "in the log: no order was canceled", "order 123: expected 7 to be greater than 9"],
    ["kills", "in the log: no writer ended", "leader killed: expected [ { … } ] to equal []"],
    [
      "failover",
      "one sign-in, one nonce at three gateways: one of each",
      "[…]: expected 2 to be 1",
    ],
    ["failover", "a socket that moves cancels nothing", "expected [] to equal [ '7' ]"],
    ["kills", "in the log: 25 ticks", "expected 26 to be less than or equal to 25"],
    ["storage", "two of three servers come back with an older copy", "expected 21 to be 20"],
  ])("never after a fault of a cluster: %s, %s", (name, title, message) => {
    const path = `apps/perpgate/src/cluster/${name}.test.ts`;
    const late = "too late: expected 16000 to be less than 15000";
    const fault = { name: title, message };
    expect(filesToRepeat(run(file(path, 2, 1, fault)))).toEqual([]);
    expect(filesToRepeat(run(file(path, 2, 2, late, fault)))).toEqual([]);
    expect(filesToRepeat(run(file(path, 2, 2, late, LATE)))).toEqual([path]);
  });

  test.each([
    LATE,
    "too late: no step has ended: expected 0 to be greater than 0",
    "expected 16123.456 to be less than 15032.1",
    "expected 705.5 to be less than or equal to 700",
    "expected 800 to be less than or equal to 732.1",
    "expected '16123 ms instead of 15000 ms, ti…' to be undefined",
    "a wait: expected 'the machine is too slow to judge: 161…' to be undefined",
    "the machine is too slow to judge: timers were up to 2000 ms late",
  ])("a cluster that was only late: %s", (message) => {
    expect(filesToRepeat(run(file(KILLS, 2, 1, message)))).toEqual([KILLS]);
  });

  test("not after an error outside any test, many failures, or a crash", () => {
    const late = file(PROCESS, 2, 1, LATE);
    expect(filesToRepeat({ ...run(late), unhandled: 1 })).toEqual([]);
    const many = Array.from({ length: 9 }, (_, at) => file(`apps/terminal/${at}.test.ts`, 0, 1));
    expect(filesToRepeat(run(...many))).toEqual([]);
    expect(filesToRepeat(undefined)).toEqual([]);
  });
});
