/**
 * What a run of tests came to, and which of its files are run again.
 *
 * A failed assertion is a failure. Tests of processes, sockets and browsers share a machine with
 * strangers, and one may be late by the clock alone: a file whose every failure is a time-out runs once
 * more, alone, and the second result counts. The closing line counts and names each.
 */

/**
 * Messages of vitest's own time-outs, of Playwright's, and of waits for a condition. Nothing that a test
 * compares begins like this.
 */
const LATE = /^(?:(?:Test|Hook) timed out in \d+ms|too late: |[\w.]+: Timeout \d+ms exceeded)/;

/** Paths of the files to run again: those that failed by time-outs alone. */
export function filesToRepeat(results) {
  return (results?.files ?? []).filter(isLate).map(({ path }) => path);
}

function isLate({ isFailed, errors }) {
  return isFailed && errors.length > 0 && errors.every(({ message }) => LATE.test(message));
}

/** Each test of these files that was late, with its file. */
export function lateNames(results) {
  return (results?.files ?? [])
    .filter(isLate)
    .flatMap(({ path, errors }) => [...new Set(errors.map(({ name }) => `${path}: ${name}`))]);
}

/**
 * The first run with the results of the files that ran again. Whether all of it succeeded is that of the
 * second run: the first did not for the late files alone, or has counted what else has failed.
 */
export function withRepeated(first, again) {
  if (again.results === undefined) return first;
  const repeated = new Map(again.results.files.map((file) => [file.path, file]));
  const files = first.results.files.map((file) => repeated.get(file.path) ?? file);
  const unhandled = first.results.unhandled + again.results.unhandled;
  return { results: { files, unhandled }, succeeded: again.succeeded };
}

/** A run that crashed, or ran nothing, is never counted as clean; nor is an error outside any test. */
export function countResults(results, succeeded) {
  const files = results?.files ?? [];
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  // A file that cannot be loaded fails without a single failed test.
  const failedInFiles = sum((file) => Math.max(file.failed, file.isFailed ? 1 : 0));
  const failed = failedInFiles + (results?.unhandled ?? 0);
  const isClean = succeeded && files.length > 0;
  return {
    passed: sum((file) => file.passed),
    skipped: sum((file) => file.skipped.length),
    failed: failed === 0 && !isClean ? 1 : failed,
  };
}

/** The same where none may be skipped: those that were have failed. */
export function failSkipped(counts) {
  return { ...counts, skipped: 0, failed: counts.failed + counts.skipped };
}

/** Names of the tests that were skipped, each with its file. */
export function skippedNames(results) {
  return (results?.files ?? []).flatMap(({ path, skipped }) =>
    skipped.map((name) => `${path}: ${name}`),
  );
}

export function summaryLine({ passed, failed, skipped, late = [] }) {
  const parts = [`${passed} passed`, `${failed} failed`];
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (late.length > 0) parts.push(`${late.length} late and run twice (${late.join("; ")})`);
  return parts.join(", ");
}

/** A line per file, the longest first, and the sum. */
export function timesTable(results) {
  const files = [...(results?.files ?? [])].sort((a, b) => b.ms - a.ms);
  const line = (ms, tests, path) =>
    `${(ms / 1_000).toFixed(1).padStart(8)} s ${String(tests).padStart(6)}  ${path}`;
  const testsOf = ({ passed, failed, skipped }) => passed + failed + skipped.length;
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  return [
    "    time     tests  file",
    ...files.map((file) => line(file.ms, testsOf(file), file.path)),
    line(
      sum(({ ms }) => ms),
      sum(testsOf),
      `all ${files.length} files`,
    ),
  ].join("\n");
}
