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

/** The results with those of the files that ran again. */
export function withRepeated(results, repeated) {
  if (repeated === undefined) return results;
  const again = new Map(repeated.files.map((file) => [file.path, file]));
  const files = results.files.map((file) => again.get(file.path) ?? file);
  return { files, unhandled: results.unhandled + repeated.unhandled };
}

/** A run that crashed, or ran nothing, is never counted as clean. */
export function countResults(results, succeeded) {
  const files = results?.files ?? [];
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  // A file that cannot be loaded fails without a single failed test.
  const failed = sum((file) => Math.max(file.failed, file.isFailed ? 1 : 0));
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
