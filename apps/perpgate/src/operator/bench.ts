/** `perpgate bench`: `npm run bench` in a checkout. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { StartError } from "../cli/start-error.js";
import { packageFolder } from "../package-folder.js";

const ROOT = new URL("../../", packageFolder());

interface BenchOptions {
  readonly only?: string;
  readonly full?: boolean;
  readonly json?: boolean;
}

export async function bench({ only, ...flags }: BenchOptions): Promise<number> {
  if (!existsSync(new URL("bench/package.json", ROOT))) {
    throw new StartError(
      "the bench is part of the source and not of this installation; " +
        "clone the repository, then: npm ci && npm run bench",
    );
  }
  const options = [
    ...Object.keys(flags).map((name) => `--${name}`),
    ...(only === undefined ? [] : [`--only=${only}`]),
  ];
  // --silent: standard output has the figures and no lines of npm.
  const child = spawn("npm", ["run", "--silent", "bench", "--", ...options], {
    cwd: fileURLToPath(ROOT),
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new StartError(`cannot run npm: ${error.message}`)));
    // Ctrl-C reaches the bench too; this process waits until it has cleaned up.
    process.on("SIGINT", () => undefined);
    process.on("SIGTERM", () => child.kill("SIGTERM"));
    child.once("close", (code) => resolve(code ?? 1));
  });
}
