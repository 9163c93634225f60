#!/usr/bin/env node
/**
 * What `npx perpgate` and `npm start` run. It is committed, and not compiled, so that installing the
 * workspace finds it before the first build, and links it.
 *
 * Runs the bundle of `scripts/build-server.mjs` if it was made from this build, otherwise the build.
 */

import { existsSync, readFileSync, statSync } from "node:fs";

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

const main = bundledMain() ?? new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write("perpgate: not built yet; run: npm run build\n");
  process.exitCode = 1;
}
