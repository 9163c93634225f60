import { describe, expect, test } from "vitest";
import { bytesFromHex } from "../text/hex.js";
import {
  ACKNOWLEDGED_FIELDS,
  END_REASONS,
  LEAF_BYTES,
  PLAIN_LEAF_BYTES,
  readLeaf,
} from "./acknowledgement-leaf.js";

/** Kind 18, then the fields: written by hand, since every block hash depends on these bytes. */
const WORDS = [
  ["0000000000003240", "kind", 18],
  ["0000000000002440", "orderId", 10],
  ["0000000000000040", "account", 2],
  ["0000000000001440", "session", 5],
  ["0000000000000000", "market", 0],
  ["000000000000f0bf", "side", -1],
  ["000000000000f03f", "type", 1],
  ["ffffffffffff3f43", "nonce", Number.MAX_SAFE_INTEGER],
  ["0000000000000840", "status", 3],
  ["0000000000001c40", "reason", 7],
  ["0000000000089840", "filledLots", 1538],
  ["00000030ccd0cd41", "filledMicros", 1_000_446_048],
  ["00000000dc821e41", "feeMicros", 499_895],
  ["0000000000000000", "remainingLots", 0],
  ["00000000000898c0", "positionLots", -1538],
  ["00000030ccd0cdc1", "positionCostMicros", -1_000_446_048],
  ["000000000010c3c0", "unrealizedMicros", -9760],
  ["0000000000000040", "block", 2],
  ["0000000000002440", "ackNonce", 10],
  ["000000000000f03f", "client1", 1],
  ["0000000000000000", "client2", 0],
  ["0000000000000000", "client3", 0],
  ["0000000000000000", "client4", 0],
  ["0000000000000000", "client5", 0],
] as const;

function leafBytes(): Uint8Array {
  return bytesFromHex(WORDS.map(([hex]) => hex).join("")) ?? new Uint8Array();
}

function withWord(place: number, value: number): Uint8Array {
  const bytes = leafBytes();
  new DataView(bytes.buffer).setFloat64(8 * place, value, true);
  return bytes;
}

describe("the leaf of an acknowledgement", () => {
  test("layout: kind and fields as in every block so far", () => {
    expect(LEAF_BYTES).toBe(192);
    expect(["kind", ...ACKNOWLEDGED_FIELDS]).toEqual(WORDS.map(([, name]) => name));
    const fields = WORDS.slice(1).map(([, name, value]) => [name, value]);
    expect(readLeaf(leafBytes())).toEqual({ ...Object.fromEntries(fields), exits: 0 });
  });

  test.each([
    [1 + 4, 1],
    [1 + 8, 2],
    [1 + 12, 3],
  ])("the word of the type is %i: a limit order with exits %i", (word, exits) => {
    expect(readLeaf(withWord(6, word))).toMatchObject({ type: 1, exits });
    expect(readLeaf(withWord(6, word + 16))).toBeUndefined();
  });

  test("an amendment of an exit: the id is that of the exit", () => {
    expect(readLeaf(withWord(1, 9.25))).toMatchObject({ orderId: 9.25, ackNonce: 10 });
    expect(readLeaf(withWord(1, 9.75))).toBeUndefined();
    expect(readLeaf(withWord(1, 9.25).subarray(0, PLAIN_LEAF_BYTES))).toBeUndefined();
  });

  test("an order without additions: the leaf ends after the block, as in every release", () => {
    expect(PLAIN_LEAF_BYTES).toBe(144);
    const plain = leafBytes().subarray(0, PLAIN_LEAF_BYTES);
    expect(readLeaf(plain)).toMatchObject({ orderId: 10, block: 2, ackNonce: 10, client1: 0 });
    // One encoding for one meaning: the additions are not written where they say nothing.
    expect(readLeaf(withWord(19, 0))).toBeUndefined();
  });

  test("bytes within a larger buffer: read", () => {
    const room = new Uint8Array(240);
    room.set(leafBytes(), 13);
    expect(readLeaf(room.subarray(13, 13 + LEAF_BYTES))).toEqual(readLeaf(leafBytes()));
  });

  test("not a leaf: other lengths, kinds, fractions, unknown enumeration values", () => {
    expect(readLeaf(new Uint8Array())).toBeUndefined();
    expect(readLeaf(leafBytes().subarray(8))).toBeUndefined();
    expect(readLeaf(Uint8Array.of(...leafBytes(), 0))).toBeUndefined();
    const wrong: [place: number, value: number][] = [
      [0, 17],
      [1, 10.75],
      [2, Number.NaN],
      [3, Number.POSITIVE_INFINITY],
      [7, Number.MAX_SAFE_INTEGER + 1],
      [5, 0],
      [5, 2],
      [6, 3],
      [6, -1],
      [6, -2],
      [8, 4],
      [9, END_REASONS.length],
    ];
    for (const [place, value] of wrong) {
      expect(readLeaf(withWord(place, value)), `${place}: ${value}`).toBeUndefined();
    }
  });
});
