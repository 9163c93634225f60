#!/usr/bin/env node
/**
 * Checks before `npm start` builds anything: the version of Node, the dependencies, and whether npm
 * took flags that were meant for the venue. Prints one line with what to do, instead of
 * `tsc: not found` or a venue with other settings. Imports nothing that has to be installed.
 */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(fileURLToPath(new URL("..", import.meta.url)));
/** Flags of the venue, with the example that is shown; `--no-bots` reaches npm as `bots`. */
const FLAGS = {
  port: "--port 9000",
  host: "--host 127.0.0.1",
  data: "--data DIR",
  config: "--config FILE",
  bots: "--no-bots",
  log_level: "--log-level warn",
};

/** The first reason not to start; undefined if there is none. */
export function problemBeforeStart(root, nodeVersion, environment) {
  if (!existsSync(join(root, "node_modules", "typescript"))) {
    return "the dependencies are not installed; run: npm ci";
  }
  const { runtime } = JSON.parse(readFileSync(join(root, "apps/perpgate/package.json"), "utf8"));
  const needed = runtime.node;
  if (Number.parseInt(nodeVersion, 10) < Number(needed)) {
    // The script's own path leads to the pinned Node, unless its platform has no package.
    return `this is Node ${nodeVersion}; Perpgate needs ${needed} or later, and npm has none for ${process.platform} ${process.arch}: install it`;
  }
  const kept = Object.keys(FLAGS).find((flag) => environment[`npm_config_${flag}`] !== undefined);
  if (kept === undefined) return undefined;
  return `npm takes flags that are not behind two dashes; write: npm start -- ${FLAGS[kept]}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problem = problemBeforeStart(ROOT, process.versions.node, process.env);
  if (problem !== undefined) {
    process.stderr.write(`perpgate: ${problem}\n`);
    process.exitCode = 1;
  } else if (!existsSync(join(ROOT, "apps/perpgate/dist/main.js"))) {
    process.stderr.write("Building. The first time takes a minute.\n");
  }
}
