#!/usr/bin/env node
/** Writes what the code says into the pages and files that tests compare with it: `npm run docs -- NAME`. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** By name: the test that compares the page writes it where `UPDATE_DOCS` is set. */
const TESTS = {
  api: "packages/gateway/src/venue/api-guide.test.ts",
  alerts: "apps/perpgate/src/serve/monitoring.system.test.ts",
  ccxt: "packages/ccxt/src/static.test.ts",
  concepts: "packages/engine/src/testing/concepts",
  link: "packages/link/src/reference.test.ts",
};
const NAMES = [...Object.keys(TESTS), "errors"];
const cwd = fileURLToPath(new URL("..", import.meta.url));

function run(command, ...args) {
  const env = { ...process.env, UPDATE_DOCS: "1" };
  const { status } = spawnSync("npx", [command, ...args], { cwd, stdio: "inherit", env });
  if (status !== 0) process.exit(1);
}

async function write(name) {
  if (name !== "errors") run("vitest", "run", TESTS[name]);
  if (name === "ccxt") run("biome", "format", "--write", "packages/ccxt/src/testing/static");
  if (name !== "errors") return;
  run("tsc", "-b", "packages/protocol");
  const { ERROR_TABLE } = await import("@perpgate/protocol/core");
  const { errorsPage } = await import("./errors-page.mjs");
  writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage(ERROR_TABLE));
}

const names = process.argv.slice(2);
if (names.length === 0 || names.some((name) => !NAMES.includes(name))) {
  console.error(`npm run docs -- NAME…\n\nnames: ${NAMES.join(", ")}`);
  process.exit(2);
}
for (const name of names) await write(name);
