import { expect, test } from "vitest";
import { keyOf } from "./keys.js";
import { wordsOfBytes } from "./rows.js";
import { eachEntry, Slice } from "./slice.js";

function entriesOf({ bytes, length }: Slice): [number, string, number[]][] {
  const found: [number, string, number[]][] = [];
  eachEntry(bytes.subarray(0, length), (table, key, value) => {
    found.push([table, key.toString("hex"), [...wordsOfBytes(value)]]);
  });
  return found;
}

const LOWEST = Buffer.alloc(0);
const HIGHEST = Buffer.alloc(64, 255);

test("eachEntry: returns what was added, also after the memory grew", () => {
  const slice = new Slice(1, new ArrayBuffer(64));
  const expected: [number, string, number[]][] = [];
  for (let i = 0; i < 40; i++) {
    const words = Array.from({ length: i % 7 }, (_, word) => i * 1_000.5 + word);
    const key = keyOf(i, Number.MAX_SAFE_INTEGER - i, i);
    slice.addWords(i % 3, i, Number.MAX_SAFE_INTEGER - i, i, words, words.length);
    expected.push([i % 3, key.toString("hex"), words]);
  }
  expect(entriesOf(slice)).toEqual(expected);
  expect(slice.count).toBe(40);
  expect(slice.within(0, LOWEST, HIGHEST)).toHaveLength(14);
  expect(slice.within(9, LOWEST, HIGHEST)).toHaveLength(0);
});

test("begin: empties the slice for reuse", () => {
  const slice = new Slice(1, new ArrayBuffer(1_024));
  for (let i = 0; i < 5; i++) slice.addWords(i % 2, i, i, i, [i], 1);
  slice.begin(2);
  expect([slice.number, slice.count, slice.length]).toEqual([2, 0, 0]);
  expect(slice.within(0, LOWEST, HIGHEST)).toHaveLength(0);
  slice.addWords(1, 7, 7, 7, [7], 1);
  expect(entriesOf(slice)).toEqual([[1, keyOf(7, 7, 7).toString("hex"), [7]]]);
  expect(slice.within(1, LOWEST, HIGHEST)).toHaveLength(1);
});

test("add: keys and values of any length do not overlap", () => {
  const slice = new Slice(1, new ArrayBuffer(64));
  const found: string[] = [];
  for (let length = 1; length <= 40; length++) {
    slice.add(5, Buffer.alloc(length, length), Buffer.alloc(41 - length, 255 - length));
  }
  eachEntry(slice.bytes.subarray(0, slice.length), (table, key, value) => {
    found.push(`${table} ${key.toString("hex")} ${value.toString("hex")}`);
  });
  expect(found).toEqual(
    Array.from({ length: 40 }, (_, i) => {
      const [key, value] = [Buffer.alloc(i + 1, i + 1), Buffer.alloc(40 - i, 254 - i)];
      return `5 ${key.toString("hex")} ${value.toString("hex")}`;
    }),
  );
});

test("writeWords: overwrites in place; earlier reads are copies", () => {
  const slice = new Slice(1, new ArrayBuffer(1_024));
  const at = slice.addWords(0, 1, 2, 3, [1, 2], 2);
  slice.addWords(0, 1, 2, 4, [7, 8], 2);
  const before = slice.value(at);
  slice.writeWords(at, [3, 4], 2);
  expect([...wordsOfBytes(before)]).toEqual([1, 2]);
  expect(entriesOf(slice).map(([, , words]) => words)).toEqual([
    [3, 4],
    [7, 8],
  ]);
});

test("within: orders keys as Buffer.compare does, with the latest entry of each", () => {
  const slice = new Slice(1, new ArrayBuffer(1_024));
  const wide = Buffer.concat([keyOf(1, 5).subarray(0, 16), Buffer.alloc(8, 1)]);
  const prefix = keyOf(1, 5).subarray(0, 16);
  const odd = Buffer.of(0, 0, 0, 0, 1);
  const keys = [keyOf(2), keyOf(1, 5, 1), wide, keyOf(1), odd, keyOf(2 ** 40), prefix, keyOf(1, 5)];
  const shown = (from: Uint8Array, to: Uint8Array) =>
    [...slice.within(0, from, to)].map((at) => [slice.keyAt(at), slice.value(at)[0]]);
  const expected = (
    values: readonly number[],
    from: Uint8Array = LOWEST,
    to: Uint8Array = HIGHEST,
  ) =>
    values
      .map((value, i): [Buffer, number] => [keys[i]!, value])
      .filter(([key]) => Buffer.compare(key, from) >= 0 && Buffer.compare(key, to) < 0)
      .sort(([a], [b]) => Buffer.compare(a, b));
  const values = keys.map((_, i) => i);
  for (const [i, key] of keys.entries()) slice.add(0, key, Buffer.of(i));
  expect(shown(LOWEST, HIGHEST)).toEqual(expected(values));
  // Some are written again, one of them twice, after a read has sorted the others.
  for (const [i, value] of [
    [1, 50],
    [4, 51],
    [1, 52],
  ] as const) {
    slice.add(0, keys[i]!, Buffer.of(value));
    values[i] = value;
  }
  for (const from of [LOWEST, ...keys]) {
    for (const to of keys.filter((key) => Buffer.compare(key, from) >= 0)) {
      expect(shown(from, to)).toEqual(expected(values, from, to));
    }
  }
  keys.forEach((key, i) => {
    expect(slice.value(slice.find(0, key)!)[0]).toBe(values[i]);
  });
  expect(slice.find(0, keyOf(3))).toBeUndefined();
});
