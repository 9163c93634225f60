/** Runs the TypeScript compiler of this repository. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./assemble.mjs";

const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

/** Throws if the compiler prints a problem, and if it cannot run. */
export function compileTypes(args, cwd, compiler = COMPILER) {
  const { status, signal, stdout, stderr, error } = spawnSync(
    process.execPath,
    [compiler, ...args],
    { cwd, encoding: "utf8" },
  );
  if (error !== undefined) throw error;
  if (status === 0 && stdout === "") return;
  throw new Error(`the types do not compile (${status ?? signal}):\n${stdout}${stderr}`);
}
