import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("bytecode.ts: equals the compiled tokens.sol", () => {
  const script = fileURLToPath(new URL("./compile.mjs", import.meta.url));
  expect(spawnSync(process.execPath, [script, "--check"], { stdio: "inherit" }).status).toBe(0);
});
