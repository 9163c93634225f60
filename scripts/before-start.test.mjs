import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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

test.each(["18.20.4", "22.22.0"])("Node %s: too old, by name", (version) => {
  expect(problemBeforeStart(ROOT, version, {})).toContain(
    `this is Node ${version}; Perpgate needs 24 or later`,
  );
});

test.each(["24.0.0", "26.10.0"])("Node %s: new enough", (version) => {
  expect(problemBeforeStart(ROOT, version, {})).toBeUndefined();
});

test("a clone without dependencies: what to run", () => {
  const root = mkdtempSync(join(tmpdir(), "perpgate-clone-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, "apps/perpgate"), { recursive: true });
  writeFileSync(join(root, "apps/perpgate/package.json"), '{"runtime":{"node":"24"}}');
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

test("prestart: programs and words alone, which scripts/start.cjs runs without a shell", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const command of scripts.prestart.split(" && ")) {
    expect(command).toMatch(/^(?:node|tsc)(?: [\w./-]+)+$/);
  }
  // npm passes a signal to its shell, so the shell has to become the venue.
  expect(scripts.start).toMatch(/^exec node(?: [\w./=-]+)+$/);
});

test("npm ci: every install script in the lock file is decided on, so npm has nothing to warn of", () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const { allowScripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  const names = scripted.map((path) => path.split("node_modules/").at(-1));
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(names)].sort());
});
