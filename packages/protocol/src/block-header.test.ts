import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { BLOCK_HEADER_BYTES, type BlockHeader, encodeBlockHeader } from "./block-header.js";
import { hexFromBytes } from "./hex.js";

const HEADER: BlockHeader = {
  number: 7,
  parentHash: new Uint8Array(32).fill(1),
  firstPosition: 1_000,
  lastPosition: Number.MAX_SAFE_INTEGER,
  ackCount: 300,
  acksRoot: new Uint8Array(32).fill(2),
  eventsHash: new Uint8Array(32).fill(3),
  timeMs: 1_780_318_800_000,
};

test("block header: the bytes of every block so far", () => {
  const bytes = encodeBlockHeader(HEADER);
  expect(bytes.length).toBe(BLOCK_HEADER_BYTES);
  expect(hexFromBytes(bytes)).toBe(
    [
      "5047424c4f434b31", // PGBLOCK1
      "0700000000000000",
      "01".repeat(32),
      "e803000000000000",
      "ffffffffffff1f00",
      "2c01000000000000",
      "02".repeat(32),
      "03".repeat(32),
      "800845839e010000",
    ].join(""),
  );
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(
    "8c405ea85e2b4e91497d212e47855cd2129777044140023d3aeae816b0189644",
  );
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
