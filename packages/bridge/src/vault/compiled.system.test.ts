import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test("vault-artifact.ts and bytecode.ts: equal the compiled Vault.sol and tokens.sol", () => {
  const script = fileURLToPath(new URL("../../contracts/compile.mjs", import.meta.url));
  expect(spawnSync(process.execPath, [script, "--check"], { stdio: "inherit" }).status).toBe(0);
});
