import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { hexFromBytes } from "../text/hex.js";
import {
  BLOCK_HEADER_BYTES,
  type BlockHeader,
  encodeBlockHeader,
  readBlockHeader,
} from "./block-header.js";

const HEADER: BlockHeader = {
  number: 7,
  parentHash: new Uint8Array(32).fill(1),
  firstPosition: 1_000,
  lastPosition: Number.MAX_SAFE_INTEGER,
  ackCount: 300,
  acksRoot: new Uint8Array(32).fill(2),
  ackListHash: new Uint8Array(32).fill(4),
  eventsHash: new Uint8Array(32).fill(3),
  timeMs: 1_780_318_800_000,
};

test("block header: the bytes of every block so far", () => {
  const bytes = encodeBlockHeader(HEADER);
  expect(bytes.length).toBe(BLOCK_HEADER_BYTES);
  expect(hexFromBytes(bytes)).toBe(
    [
      "5047424c4f434b32", // PGBLOCK2
      "0700000000000000",
      "01".repeat(32),
      "e803000000000000",
      "ffffffffffff1f00",
      "2c01000000000000",
      "02".repeat(32),
      "04".repeat(32),
      "03".repeat(32),
      "800845839e010000",
    ].join(""),
  );
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(
    "672332d04f8e151ee55c65d722b18fdfa00fef4431c49179b9e01f446a127a37",
  );
});

test("block header: is read back, and no other bytes are", () => {
  const bytes = encodeBlockHeader(HEADER);
  expect(readBlockHeader(bytes)).toEqual(HEADER);
  expect(readBlockHeader(bytes.slice(1))).toBeUndefined();
  bytes[7] = 0x31;
  expect(readBlockHeader(bytes)).toBeUndefined();
});

test("block header: invalid values are rejected", () => {
  for (const wrong of [
    { number: -1 },
    { ackCount: 1.5 },
    { timeMs: 2 ** 53 },
    { lastPosition: Number.NaN },
    { parentHash: new Uint8Array(31) },
    { acksRoot: new Uint8Array(33) },
  ]) {
    expect(() => encodeBlockHeader({ ...HEADER, ...wrong }), JSON.stringify(wrong)).toThrow(
      RangeError,
    );
  }
});
