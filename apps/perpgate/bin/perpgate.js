#!/usr/bin/env node
/**
 * What `npx perpgate` and `npm start` run. It is committed, and not compiled, so that installing the
 * workspace finds it before the first build, and links it.
 *
 * Runs itself again with the pinned Node where another one runs it; then the bundle of
 * `scripts/build-server.mjs` if it was made from this build, otherwise the build.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { currentBundle } from "./bundle.js";
import { chooseNode, neededNode, pinnedNode, runWith } from "./pinned-node.js";

async function run() {
  const main = new URL("main.js", currentBundle() ?? new URL("../dist/", import.meta.url));
  if (existsSync(main)) await import(main.href);
  else fail("not built yet; run: npm run build");
}

function fail(reason) {
  process.stderr.write(`perpgate: ${reason}\n`);
  process.exitCode = 1;
}

const { path, problem } = chooseNode({
  running: process.versions.node,
  needed: neededNode(),
  pinned: pinnedNode(),
});
if (problem !== undefined) fail(problem);
else if (path !== undefined) runWith(path, fileURLToPath(import.meta.url));
else await run();
