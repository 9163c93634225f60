import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CheckpointFile,
  furthestCheckpoint,
  readCheckpointLines,
  type StateCheckpoint,
} from "./checkpoint-file.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perpgate-checkpoints-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (): string => join(folder, "checkpoints.jsonl");

function checkpointAt(batch: number): StateCheckpoint {
  const hash = batch.toString(16).padStart(64, "0");
  const at = { position: batch * 3, batch, record: batch * 2 };
  return { ...at, stateHash: hash, format: 5, block: batch, blockHash: hash };
}

const lineOf = (batch: number): string => `${JSON.stringify(checkpointAt(batch))}\n`;

/** Several chunks of lines, of which the one with the most batches is in the middle. */
const BATCHES = [...Array.from({ length: 2_000 }, (_, at) => at + 1), 9_000, 2_001, 2_002];
const LINES = BATCHES.map(lineOf);
const TORN = lineOf(9_999).slice(0, -1);
const TOO_LONG = `${"ß".repeat(150_000)}\n`;

describe.each([
  ["whole lines alone", LINES, 0],
  ["a bad line", [...LINES.slice(0, 1_000), "{}\n", ...LINES.slice(1_000)], 1],
  ["a bad line of several chunks", [LINES[0]!, TOO_LONG, ...LINES.slice(1)], 1],
  ["a torn last line", [...LINES, TORN], 0],
  ["a torn last line of several chunks", [...LINES, "0".repeat(150_000)], 0],
])("a file of several chunks, %s", (_, texts, bad) => {
  test("read: every checkpoint once, in order, and the furthest", () => {
    writeFileSync(path(), texts.join(""));
    const read = readCheckpointLines(path());
    expect(read.lines.map(({ text }) => `${text}\n`)).toEqual(LINES);
    expect(read.lines.map(({ checkpoint }) => checkpoint)).toEqual(BATCHES.map(checkpointAt));
    expect(read.bad).toBe(bad);
    expect(furthestCheckpoint(path())).toEqual(checkpointAt(9_000));
  });

  test("opened for writing: cut after its last whole line", () => {
    writeFileSync(path(), texts.join(""));
    const file = new CheckpointFile(path());
    file.append(checkpointAt(10_000));
    file.close();
    const whole = texts.filter((text) => text.endsWith("\n"));
    expect(readFileSync(path(), "utf8")).toBe(whole.join("") + lineOf(10_000));
  });
});

test("a file that is missing, empty or one torn line: no checkpoint", () => {
  expect(furthestCheckpoint(path())).toBeUndefined();
  for (const text of ["", TORN]) {
    writeFileSync(path(), text);
    expect(readCheckpointLines(path())).toEqual({ lines: [], bad: 0 });
    expect(furthestCheckpoint(path())).toBeUndefined();
    new CheckpointFile(path()).close();
    expect(readFileSync(path(), "utf8")).toBe("");
  }
});
