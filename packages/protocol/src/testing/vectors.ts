/**
 * Public test vectors, from the folder that `PERPGATE_VECTORS` names; they are not committed. Without
 * it a suite is skipped and says so; `REQUIRE_VECTORS=1`, which continuous integration sets where it
 * has them, makes that a failure instead.
 */

import { test } from "vitest";

/** Runs the suite with the path of the vectors of that name; whoever has a disk reads them. */
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
