#!/usr/bin/env node
/**
 * `npm start` without npm and without a shell: the same checks and builds, then the venue in this process,
 * with the flags of the call.
 *
 *   node --max-semi-space-size=64 scripts/start.cjs --port 9000
 *
 * It is CommonJS because libuv reads the size of its thread pool when the first file is read
 * asynchronously, and a module is.
 */

require("../apps/perpgate/bin/thread-pool.cjs");
const { spawnSync } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const ROOT = join(__dirname, "..");

/** The commands of the script `prestart`, each as the arguments of this Node. */
function buildSteps() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return scripts.prestart.split(" && ").map((command) => {
    const [program, ...args] = command.split(" ");
    return program === "node"
      ? args
      : [join(ROOT, "node_modules/typescript/bin", program), ...args];
  });
}

function build() {
  for (const args of buildSteps()) {
    const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

const failed = build();
if (failed === 0) void import(pathToFileURL(join(ROOT, "apps/perpgate/bin/perpgate.js")).href);
else process.exitCode = failed;
