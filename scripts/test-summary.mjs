/** The closing line from Vitest's JSON report; a run that crashed is never counted as clean. */

export function countResults(report, succeeded) {
  const passed = report?.numPassedTests ?? 0;
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  // A file that cannot be loaded fails without a single failed test, and a crash without a report.
  const emptyFailures = (report?.testResults ?? []).filter(
    (file) => file.status === "failed" && !file.assertionResults.some((t) => t.status === "failed"),
  ).length;
  const failed = (report?.numFailedTests ?? 0) + emptyFailures;
  return { passed, skipped, failed: failed === 0 && !succeeded ? 1 : failed };
}

export function summaryLine({ passed, failed, skipped }) {
  const line = `${passed} passed, ${failed} failed`;
  return skipped > 0 ? `${line}, ${skipped} skipped` : line;
}
