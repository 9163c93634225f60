/**
 * What a run of all tests came to, and which of its files are run again.
 *
 * Tests of processes, sockets and browsers share a machine with each other and with strangers, and some
 * fail only because it was slow. A few files that failed are therefore run again, alone; the second
 * result counts, and the closing line names how many needed it. A real fault fails twice.
 */

/** More failures than this have another cause than the machine. */
const MOST_REPEATED = 8;

/** Computed from seeds alone: what fails once is wrong. */
const DETERMINISTIC = /^packages\/(engine|protocol|simulator)\//;

/**
 * They look for lost and doubled orders, false answers and replicas that differ, which may be rare: only
 * a test that was late is repeated.
 */
const AUDITS = /^(packages\/(cluster|journal|venue)|apps\/perpgate\/src\/cluster)\//;
const AUDIT_NAMES = /nothing lost/;
/** What an audit of a process says of an order, a batch or an acknowledgement. */
const LOSSES = /^(nonce|batch|position|order) \d/;

/**
 * Also what a test says of a time that it measured, or of its limit on a late machine: no other numbers
 * that these tests compare have a fraction.
 */
const LATE = new RegExp(
  [
    "timed? ?out",
    "^too late: ",
    "too slow to judge",
    "\\d ms instead of \\d",
    "^expected \\d+\\.\\d+ to be less than ",
    "^expected \\d+ to be less than (or equal to )?\\d+\\.\\d",
  ].join("|"),
  "i",
);

/** Paths of the files to run again; none if that could not lead to a clean result. */
export function filesToRepeat(results) {
  if (results === undefined || results.unhandled > 0) return [];
  const failed = results.files.filter(({ isFailed }) => isFailed);
  const isHopeless = failed.length > MOST_REPEATED || failed.some((file) => !isRepeatable(file));
  return isHopeless ? [] : failed.map(({ path }) => path);
}

function isRepeatable({ path, errors }) {
  if (DETERMINISTIC.test(path)) return false;
  return errors.every(({ name, message }) => {
    const isAudit = AUDITS.test(path) || AUDIT_NAMES.test(name) || LOSSES.test(message);
    return LATE.test(message) || !isAudit;
  });
}

/** The results with those of the files that ran again. */
export function withRepeated(results, repeated) {
  if (repeated === undefined) return results;
  const again = new Map(repeated.files.map((file) => [file.path, file]));
  const files = results.files.map((file) => again.get(file.path) ?? file);
  return { files, unhandled: results.unhandled + repeated.unhandled };
}

/** A run that crashed is never counted as clean. */
export function countResults(results, succeeded) {
  const files = results?.files ?? [];
  const sum = (count) => files.reduce((total, file) => total + count(file), 0);
  // A file that cannot be loaded fails without a single failed test.
  const failed = sum((file) => Math.max(file.failed, file.isFailed ? 1 : 0));
  return {
    passed: sum((file) => file.passed),
    skipped: sum((file) => file.skipped.length),
    failed: failed === 0 && !succeeded ? 1 : failed,
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

export function summaryLine({ passed, failed, skipped, repeated = 0 }) {
  const parts = [`${passed} passed`, `${failed} failed`];
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (repeated > 0) parts.push(`files run twice: ${repeated}`);
  return parts.join(", ");
}
