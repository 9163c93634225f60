import { describe, expect, test } from "vitest";
import { countResults, summaryLine } from "./test-summary.mjs";

const file = (status, ...tests) => ({
  status,
  assertionResults: tests.map((result) => ({ status: result })),
});

describe("closing line", () => {
  test("a clean run", () => {
    const report = {
      numPassedTests: 3,
      numFailedTests: 0,
      testResults: [file("passed", "passed")],
    };
    expect(summaryLine(countResults(report, true))).toBe("3 passed, 0 failed");
  });

  test("skipped tests are named", () => {
    const report = { numPassedTests: 3, numFailedTests: 0, numPendingTests: 1, numTodoTests: 1 };
    expect(summaryLine(countResults(report, true))).toBe("3 passed, 0 failed, 2 skipped");
  });

  test("a file that cannot be loaded counts as a failure", () => {
    const report = {
      numPassedTests: 2,
      numFailedTests: 1,
      testResults: [file("failed"), file("failed", "passed", "failed")],
    };
    expect(summaryLine(countResults(report, false))).toBe("2 passed, 2 failed");
  });

  test("a crash without a report, or an error outside any test, is a failure", () => {
    expect(summaryLine(countResults(undefined, false))).toBe("0 passed, 1 failed");
    const report = { numPassedTests: 2, numFailedTests: 0, testResults: [] };
    expect(summaryLine(countResults(report, false))).toBe("2 passed, 1 failed");
  });
});
