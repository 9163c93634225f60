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
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const needed = engines.node.replace(">=", "");
  if (isOlder(nodeVersion, needed)) {
    return `this is Node ${nodeVersion}; Perpgate needs ${needed} or later`;
  }
  if (!existsSync(join(root, "node_modules", "typescript"))) {
    return "the dependencies are not installed; run: npm ci";
  }
  const kept = Object.keys(FLAGS).find((flag) => environment[`npm_config_${flag}`] !== undefined);
  if (kept === undefined) return undefined;
  return `npm takes flags that are not behind two dashes; write: npm start -- ${FLAGS[kept]}`;
}

function isOlder(version, needed) {
  const [a, b] = [version, needed].map((text) => text.split(".").map(Number));
  const major = a[0] - b[0];
  return major < 0 || (major === 0 && a[1] < (b[1] ?? 0));
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
