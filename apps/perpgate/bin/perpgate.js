#!/usr/bin/env node
/**
 * What `npx perpgate` and `npm start` run. It is committed, and not compiled, so that installing the
 * workspace finds it before the first build, and links it.
 *
 * Runs itself again with the pinned Node where another one runs it; then the bundle of
 * `scripts/build-server.mjs` if it was made from this build, otherwise the build.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chooseNode, neededNode, pinnedNode, runWith } from "./pinned-node.js";

const root = new URL("../../../", import.meta.url);
const bundles = new URL("../dist/bundle/", import.meta.url);

/** The bundle's first module; undefined if there is none, or the build is another one. */
function bundledMain() {
  const current = new URL("current.json", bundles);
  if (!existsSync(current)) return undefined;
  const { name, from } = JSON.parse(readFileSync(current, "utf8"));
  const timeOf = (path) => statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs;
  const isCurrent = Object.entries(from).every(([path, time]) => timeOf(path) === time);
  return isCurrent ? new URL(`${name}/main.js`, bundles) : undefined;
}

async function run() {
  const main = bundledMain() ?? new URL("../dist/main.js", import.meta.url);
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
