/**
 * Builds the page from the current sources into a temporary folder, as `npm start` does. With
 * `PERPGATE_PAGE` the tests run against that folder, to see which of them fail on another page.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const SCRIPT = fileURLToPath(new URL("../../../../scripts/build-page.mjs", import.meta.url));

export async function buildPage(): Promise<{ folder: string; remove(): void }> {
  const given = process.env.PERPGATE_PAGE;
  if (given !== undefined) return { folder: given, remove: () => undefined };
  const parent = mkdtempSync(join(tmpdir(), "perpgate-page-"));
  const folder = join(parent, "page");
  await promisify(execFile)(process.execPath, [SCRIPT, folder]);
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) };
}
