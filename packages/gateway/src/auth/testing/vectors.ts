/** Public test vectors in JSON; a suite whose vectors are not at hand says so. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withVectors as withFolder } from "@perpgate/protocol/testing/vectors";

/** Runs the suite over the vectors of the named folder; `read` takes a file of it. */
export function withVectors(name: string, suite: (read: <T>(file: string) => T) => void): void {
  withFolder(name, (folder) => {
    suite((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
  });
}
