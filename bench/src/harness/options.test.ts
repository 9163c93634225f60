import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("--only: a part that does not exist is an error of usage", () => {
  const script = fileURLToPath(new URL("../../dist/engine.js", import.meta.url));
  const args = [script, "--only", "bok", "--commands", "1000"];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, '--only: there is no "bok"; try --help\n']);
});
