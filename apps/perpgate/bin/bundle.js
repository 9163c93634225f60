/** The bundle of `scripts/build-server.mjs`: hundreds of modules in a few files. */

import { existsSync, readFileSync, statSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
const bundles = new URL("../dist/bundle/", import.meta.url);

/** The bundle's folder; undefined if there is none, or the build is another one. */
export function currentBundle() {
  const current = new URL("current.json", bundles);
  if (!existsSync(current)) return undefined;
  const { name, from } = JSON.parse(readFileSync(current, "utf8"));
  const timeOf = (path) => statSync(new URL(path, root), { throwIfNoEntry: false })?.mtimeMs;
  const isCurrent = Object.entries(from).every(([path, time]) => timeOf(path) === time);
  return isCurrent ? new URL(`${name}/`, bundles) : undefined;
}
