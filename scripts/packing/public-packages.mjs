/** The packages that others install: those that `npm pack` assembles. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./assemble.mjs";

export function publicPackages() {
  return readdirSync(join(ROOT, "packages")).filter((name) => {
    const path = join(ROOT, "packages", name, "package.json");
    if (!existsSync(path)) return false;
    const { scripts } = JSON.parse(readFileSync(path, "utf8"));
    return scripts?.prepack?.includes("packing/in-place.mjs") === true;
  });
}
