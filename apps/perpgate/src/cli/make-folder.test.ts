import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolder } from "./make-folder.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("creates all missing folders with the given mode; existing ones are no error", () => {
  const path = join(folder, "a", "b", "c");
  makeFolder(path, 0o700);
  makeFolder(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a file with the name of a folder: an error that names it", () => {
  writeFileSync(join(folder, "file"), "");
  expect(() => makeFolder(join(folder, "file"))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(folder, "file", "below"))).toThrow(/ENOTDIR|EEXIST/);
});

test.skipIf(process.platform !== "linux")(
  "below /proc (Linux): an error, and no endless loop",
  () => {
    expect(() => makeFolder("/proc/perpgate/data")).toThrow(/ENOENT/);
  },
);
