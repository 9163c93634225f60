import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import {
  checkPrivateFolder,
  createPrivateFile,
  preparePrivateFolder,
  readPrivateFile,
  writePrivateFile,
} from "./private-file.js";

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

describe("private files", () => {
  test("written, replaced and read: mode 600, no temporary file left", () => {
    const folder = temporaryFolder();
    const path = join(folder, "secret");
    writePrivateFile(path, "one");
    writePrivateFile(path, "two");
    expect(readPrivateFile(path)).toBe("two");
    expect(modeOf(path)).toBe("600");
    expect(readdirSync(folder)).toEqual(["secret"]);
  });

  test("a missing file: undefined", () => {
    expect(readPrivateFile(join(temporaryFolder(), "none"))).toBeUndefined();
  });

  test.each([0o640, 0o604, 0o660])("mode %i: refused, with what to do", (mode) => {
    const path = join(temporaryFolder(), "secret");
    writeFileSync(path, "x");
    chmodSync(path, mode);
    expect(() => readPrivateFile(path)).toThrow(`chmod 600 ${path}`);
  });

  test("a new file never overwrites another", () => {
    const folder = temporaryFolder();
    const path = join(folder, "key");
    createPrivateFile(path, "first");
    expect(() => createPrivateFile(path, "second")).toThrow("not overwritten");
    expect(readPrivateFile(path)).toBe("first");
    expect(modeOf(path)).toBe("600");
    expect(readdirSync(folder)).toEqual(["key"]);
  });

  test("a folder without write access: an error, no file left", () => {
    const path = join(temporaryFolder(), "missing", "secret");
    expect(() => writePrivateFile(path, "x")).toThrow(`cannot write ${path}`);
    expect(existsSync(path)).toBe(false);
  });
});

describe("private folders", () => {
  test("created with its parents: mode 700", () => {
    const path = join(temporaryFolder(), "a", "b");
    preparePrivateFolder(path);
    expect([modeOf(path), modeOf(join(path, ".."))]).toEqual(["700", "700"]);
  });

  test("one that others can access: refused", () => {
    const path = join(temporaryFolder(), "open");
    mkdirSync(path);
    chmodSync(path, 0o755);
    expect(() => preparePrivateFolder(path)).toThrow(`chmod 700 ${path}`);
    expect(() => checkPrivateFolder(path)).toThrow(`chmod 700 ${path}`);
  });

  test("a file with its name: refused", () => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, "", { mode: 0o600 });
    expect(() => checkPrivateFolder(path)).toThrow("is not a folder");
  });
});
