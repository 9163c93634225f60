#!/usr/bin/env node
/**
 * Builds the package files that a gateway serves: `/sdk.tgz` and the like, of its own release.
 *
 * Types come from the build, so this runs after `tsc -b`. Two concurrent runs write the same bytes.
 */

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble, ROOT } from "./packing/assemble.mjs";
import { publicPackages } from "./packing/public-packages.mjs";
import { tarballOf } from "./packing/tarball.mjs";

const folder = join(ROOT, "apps/perpgate/dist/packages");
mkdirSync(folder, { recursive: true });
for (const name of publicPackages()) {
  const assembled = mkdtempSync(join(tmpdir(), `perpgate-${name}-`));
  try {
    await assemble(name, assembled);
    const part = join(folder, `.${name}-${process.pid}`);
    writeFileSync(part, tarballOf(assembled));
    renameSync(part, join(folder, `${name}.tgz`));
  } finally {
    rmSync(assembled, { recursive: true, force: true });
  }
}
