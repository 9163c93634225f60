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

test("all that are missing, with the mode asked for, and again without a word", () => {
  const path = join(folder, "a", "b", "c");
  makeFolder(path, 0o700);
  makeFolder(path, 0o700);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("a file in the way: an error that names it", () => {
  writeFileSync(join(folder, "file"), "");
  expect(() => makeFolder(join(folder, "file"))).toThrow(/EEXIST/);
  expect(() => makeFolder(join(folder, "file", "below"))).toThrow(/ENOTDIR|EEXIST/);
});

test.skipIf(process.platform !== "linux")(
  "where nothing can be made (skipped without a /proc): an error, not a wait for ever",
  () => {
    expect(() => makeFolder("/proc/perpgate/data")).toThrow(/ENOENT/);
  },
);
