/** Public test vectors, from the folder that `PERPGATE_VECTORS` names; they are not committed. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";

/** Runs the suite if its vectors are at hand, and otherwise says why it did not. */
export function withVectors(name: string, suite: (read: <T>(file: string) => T) => void): void {
  const folder = process.env.PERPGATE_VECTORS;
  if (folder === undefined) {
    const reason = `${name} vectors: not run, because PERPGATE_VECTORS names no folder`;
    console.warn(reason);
    // A file needs a test; this one says by its name what did not happen.
    test(reason, () => {});
    return;
  }
  suite((file) => JSON.parse(readFileSync(join(folder, name, file), "utf8")));
}
