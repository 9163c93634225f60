/** What an attestor has signed, on its disk: torn lines, full disks, a second process. */

import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SigningRecord } from "./signing-record.js";

const SCOPE = `1 ${"11".repeat(20)} ${"22".repeat(20)}`;
const payment = (id: number) => {
  const digest = `0x${id.toString(16).padStart(64, "0")}`;
  return { id, digest, scope: SCOPE, amount: "100", atMs: 1_000 };
};

function recordPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-record-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "signed.jsonl");
}

function opened(
  path: string,
  ...disk: [] | [NonNullable<ConstructorParameters<typeof SigningRecord>[1]>]
) {
  const record = new SigningRecord(path, ...disk);
  onTestFinished(() => record.close());
  return record;
}

test("for its owner alone; a torn line is dropped, a damaged one stops the start", () => {
  const path = recordPath();
  const first = opened(path);
  first.add(payment(1));
  first.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const whole = readFileSync(path, "utf8");
  appendFileSync(path, '{"id":7,"di');
  opened(path).close();
  expect(readFileSync(path, "utf8")).toBe(whole);
  writeFileSync(path, `{"id":7}\n${whole}`);
  expect(() => new SigningRecord(path)).toThrow("cannot be read");
});

test("a disk that fills within a line: refused, nothing of it stays, and the next line is whole", () => {
  const path = recordPath();
  let room = Number.POSITIVE_INFINITY;
  const record = opened(path, {
    write: (file, bytes) => writeSync(file, bytes.subarray(0, room)),
    sync: () => undefined,
  });
  record.add(payment(1));
  room = 20;
  expect(() => record.add(payment(2))).toThrow("the record took 20 of");
  expect(record.digestOf(payment(2))).toBeUndefined();
  expect(record.signed(SCOPE, 1_001)).toEqual({ hour: 100n, day: 100n });
  room = Number.POSITIVE_INFINITY;
  record.add(payment(3));
  record.close();
  const again = opened(path);
  expect([1, 2, 3].map((id) => again.digestOf(payment(id)))).toEqual([
    payment(1).digest,
    undefined,
    payment(3).digest,
  ]);
});

test("a disk that refuses a line, or cannot sync it: nothing is acted upon, and after the sync nothing more", () => {
  const path = recordPath();
  let isFull = true;
  let isBroken = false;
  const record = opened(path, {
    write: (file, bytes) => {
      if (isFull) throw new Error("ENOSPC");
      return writeSync(file, bytes);
    },
    sync: () => {
      if (isBroken) throw new Error("EIO");
    },
  });
  expect(() => record.add(payment(1))).toThrow("the record took 0 of");
  isFull = false;
  record.add(payment(1));
  isBroken = true;
  expect(() => record.add(payment(2))).toThrow("EIO");
  isBroken = false;
  expect(() => record.add(payment(3))).toThrow("start the process again");
  expect(record.digestOf(payment(2))).toBeUndefined();
});

test("a second process on one record: refused until the first has ended", () => {
  const path = recordPath();
  const first = opened(path);
  expect(() => new SigningRecord(path)).toThrow("another process signs with this record");
  first.close();
  first.close();
  opened(path).add(payment(1));
});
