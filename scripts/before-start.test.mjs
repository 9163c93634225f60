import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { problemBeforeStart } from "./before-start.mjs";

const ROOT = resolve(fileURLToPath(new URL("..", import.meta.url)));
const NODE = process.versions.node;

test("this repository: no problem", () => {
  expect(problemBeforeStart(ROOT, NODE, {})).toBeUndefined();
});

test.each(["18.20.4", "20.18.3"])("Node %s: too old, by name", (version) => {
  expect(problemBeforeStart(ROOT, version, {})).toBe(
    `this is Node ${version}; Perpgate needs 20.19 or later`,
  );
});

test.each(["20.19.0", "22.1.0", "24.0.0"])("Node %s: new enough", (version) => {
  expect(problemBeforeStart(ROOT, version, {})).toBeUndefined();
});

test("a clone without dependencies: what to run", () => {
  const root = mkdtempSync(join(tmpdir(), "perpgate-clone-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, "package.json"), '{"engines":{"node":">=20.19"}}');
  expect(problemBeforeStart(root, NODE, {})).toContain("npm ci");
  mkdirSync(join(root, "node_modules/typescript"), { recursive: true });
  expect(problemBeforeStart(root, NODE, {})).toBeUndefined();
});

// What npm makes of `npm start --port 9000` and of `npm start --no-bots`.
test.each([
  [{ npm_config_port: "true" }, "npm start -- --port"],
  [{ npm_config_bots: "" }, "npm start -- --no-bots"],
])("flags that npm took, %o: refused with the right command", (environment, advice) => {
  expect(problemBeforeStart(ROOT, NODE, environment)).toContain(advice);
});
