/** `bin/perpgate.js` runs on the Node that the lock file pins, whichever Node starts it. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chooseNode, neededNode, pinnedNode } from "../apps/perpgate/bin/pinned-node.js";

const pinned = { version: "24.21.0", path: "/pinned" };

test.each([
  ["the pinned one: goes on", "24.21.0", pinned, {}],
  ["an older one: the pinned one", "20.20.2", pinned, { path: "/pinned" }],
  ["a newer one: the pinned one", "26.10.0", pinned, { path: "/pinned" }],
  ["without a platform package, new enough: goes on", "24.3.0", undefined, {}],
])("a start with %s", (_, running, installed, expected) => {
  expect(chooseNode({ running, needed: "24", pinned: installed })).toEqual(expected);
});

test("a start with an older one without a platform package: one line with both versions", () => {
  const { problem } = chooseNode({ running: "22.22.0", needed: "24", pinned: undefined });
  expect(problem).toMatch(/^this is Node 22\.22\.0; Perpgate needs Node 24 or later: .*\S$/);
});

test("the platform package: the version of package.json and, in npm scripts, the Node that runs", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const name = `node-${process.platform}-${process.arch}`;
  expect(pinnedNode()).toMatchObject({ version: manifest.optionalDependencies[name] });
  expect(pinnedNode()?.version).toMatch(new RegExp(`^${neededNode()}\\.`));
  expect(pinnedNode("sunos", "sparc")).toBeUndefined();
});
