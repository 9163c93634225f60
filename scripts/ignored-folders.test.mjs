import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ignoredBy } from "./testing/dockerfile.mjs";

const ROOT = resolve(fileURLToPath(new URL("..", import.meta.url)));

test.each([
  ["npm start", ".data"],
  ["npm run cluster", ".cluster"],
])("the folder with keys that %s makes: neither in git nor in the image", (_, folder) => {
  const file = join(folder, "perpgate.json");
  const args = ["check-ignore", "--quiet", "--no-index", file];
  expect(spawnSync("git", args, { cwd: ROOT }).status).toBe(0);
  const isIgnored = ignoredBy(readFileSync(join(ROOT, ".dockerignore"), "utf8"));
  expect(isIgnored(folder)).toBe(true);
});
