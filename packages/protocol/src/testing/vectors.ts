/**
 * Public test vectors, from the folder that `PERPGATE_VECTORS` names; they are not committed. Without
 * it a suite is reported as skipped, or fails if `REQUIRE_VECTORS=1` is set, as in continuous
 * integration.
 */

import { test } from "vitest";

/** Runs the suite with the folder of the vectors of that name. */
export function withVectors(name: string, suite: (folder: string) => void): void {
  const { PERPGATE_VECTORS: all, REQUIRE_VECTORS: required } = process.env;
  if (all !== undefined) {
    suite(`${all}/${name}`);
    return;
  }
  const reason = `the ${name} vectors: PERPGATE_VECTORS names no folder`;
  if (required === "1") throw new Error(`REQUIRE_VECTORS is set. ${reason}`);
  console.warn(`SKIPPED: ${reason}`);
  // A file needs a test; this one says by its name what did not happen.
  test.skip(reason, () => undefined);
}
