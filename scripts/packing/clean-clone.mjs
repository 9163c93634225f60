/**
 * A copy of what `npm pack` needs, as in a fresh clone: nothing is built. The installed dependencies are
 * linked, the workspace's own packages are those of the copy.
 */

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./assemble.mjs";

const NEEDED = ["package.json", "tsconfig.base.json", "LICENSE", "scripts/packing", "packages"];

export function cleanClone(target) {
  const listed = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...NEEDED],
    { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 },
  );
  for (const path of listed.split("\0").filter((file) => existsSync(join(ROOT, file)))) {
    if (path === "") continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(ROOT, path), join(target, path));
  }
  const modules = join(target, "node_modules");
  mkdirSync(join(modules, "@perpgate"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name === "@perpgate" || name.startsWith(".")) continue;
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of readdirSync(join(target, "packages"))) {
    symlinkSync(join(target, "packages", name), join(modules, "@perpgate", name));
    const own = join("packages", name, "node_modules");
    if (existsSync(join(ROOT, own))) symlinkSync(join(ROOT, own), join(target, own));
  }
}
