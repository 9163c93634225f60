import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compileTypes } from "./packing/compile-types.mjs";

function folderWith(program) {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-types-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "use.mts"), program);
  return folder;
}

const ARGS =
  "--ignoreConfig --noEmit --skipLibCheck --module nodenext --pretty false use.mts".split(" ");

test("types that are sound, and types that are not", () => {
  compileTypes(ARGS, folderWith("export const one: number = 1;\n"));
  const wrong = folderWith('export const one: number = "1";\n');
  expect(() => compileTypes(ARGS, wrong)).toThrow(/the types do not compile.*\n.*TS2322/);
});

test.each([
  ["that is missing", undefined, "Cannot find module"],
  ["that fails without a word", "process.exit(2);\n", "(2)"],
  ["that is killed", 'process.kill(process.pid, "SIGKILL");\n', "(SIGKILL)"],
])("a compiler %s: the types do not count as sound", (_, code, reason) => {
  const folder = folderWith("");
  const compiler = join(folder, "tsc.mjs");
  if (code !== undefined) writeFileSync(compiler, code);
  expect(() => compileTypes(ARGS, folder, compiler)).toThrow(reason);
});
