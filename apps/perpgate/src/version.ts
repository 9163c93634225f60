/** The version of this build, from the package that ships it. */

import { readFileSync } from "node:fs";
import { packageFolder } from "./package-folder.js";

export function readVersion(): string {
  const text = readFileSync(new URL("package.json", packageFolder()), "utf8");
  const manifest: unknown = JSON.parse(text);
  if (typeof manifest !== "object" || manifest === null || !("version" in manifest)) {
    throw new TypeError("package.json has no version");
  }
  return String(manifest.version);
}
