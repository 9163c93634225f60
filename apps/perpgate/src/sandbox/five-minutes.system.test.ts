/** "Test your bot in five minutes" of docs/sandbox.md, as it stands, with what a gateway serves. */

import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MAIN, temporaryFolder } from "../testing/perpgate-process.js";
import { installServed } from "../testing/served-packages.js";
import { sharedGateway } from "../testing/trader-shell.js";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/sandbox.md"), "utf8");
const PROGRAM = /<!-- program: (.*) -->\n\n```\w+\n([\s\S]*?)```\n/g;
const SERVED = /http:\/\/127\.0\.0\.1:8080\/(\w+)\.tgz/g;

let folder = "";

beforeAll(async () => {
  folder = temporaryFolder(afterAll);
  for (const [, name = "", program = ""] of PAGE.matchAll(PROGRAM)) {
    writeFileSync(join(folder, name), program);
  }
  copyFileSync(join(ROOT, "examples/sandbox_fixture.py"), join(folder, "sandbox_fixture.py"));
  const served = new Set([...PAGE.matchAll(SERVED)].map(([, name = ""]) => name));
  expect([...served].sort()).toEqual(["ccxt", "sandbox", "sdk"]);
  const gateway = await sharedGateway();
  await installServed(gateway.url, folder, [...served], ["vitest", "ccxt"]);
  gateway.stop();
});

/** In the folder of the bot, without what this test's own runner has set. */
function outputOf(program: string, ...words: string[]): string {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  const env = { ...Object.fromEntries(inherited), PERPGATE: `${process.execPath} ${MAIN}` };
  const { status, stdout, stderr } = spawnSync(program, words, {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  if (status !== 0) throw new Error(`${words.join(" ")}: ${status}\n${stdout}\n${stderr}`);
  return stdout + stderr;
}

test("the bot's test in vitest passes", () => {
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  // Its own limit of 5 s is for a machine that runs no other tests.
  const words = ["run", "--reporter=tap", "--testTimeout=180000"];
  expect(outputOf(process.execPath, vitest, ...words)).toContain("\n    ok 1 - ");
});

test.each(["with-node.mjs", "with-ccxt.mjs"])("%s passes in node:test", (name) => {
  const output = outputOf(process.execPath, "--test", "--test-reporter=tap", name);
  expect(output).toMatch(/^# pass 1$/m);
  expect(output).toMatch(/^# fail 0$/m);
});

const hasPython = spawnSync("python3", ["--version"]).status === 0;
if (!hasPython && process.env.REQUIRE_PYTHON === "1") throw new Error("there is no python3");

test.skipIf(!hasPython)("test_bot.py passes in unittest", () => {
  expect(outputOf("python3", "-m", "unittest", "test_bot")).toMatch(/^Ran 1 test in .*\n\nOK$/m);
});
