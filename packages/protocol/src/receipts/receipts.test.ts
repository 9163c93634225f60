import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rootFromLeafHash } from "../blocks/merkle-path.js";
import {
  ByteReader,
  base64,
  base64Url,
  bytesFromBase64,
  bytesFromBase64Url,
  varint,
} from "./bytes.js";
import { decodeReceipt, encodeReceipt } from "./receipt.js";
import { isNoteSignedBy, noteKeyText, parseNote, parseNoteKey } from "./signed-note.js";
import { hashInTile, parseTilePath, tileAt, tileOf, tilePath } from "./tiles.js";
import {
  consistencyRanges,
  inclusionRanges,
  type LeafRange,
  rootOfLeafHashes,
  rootOfSubtrees,
  rootsOfConsistency,
  subtreesOf,
} from "./tree.js";

const leaves = (count: number): Uint8Array[] =>
  Array.from(
    { length: count },
    (_, i) => new Uint8Array(createHash("sha256").update(`leaf ${i}`).digest()),
  );

describe("tree", () => {
  const all = leaves(40);
  const rangeRoot = ({ start, end }: LeafRange) => rootOfLeafHashes(all.slice(start, end));

  test("inclusion: every leaf of every tree leads to its root, by ranges and by subtrees", () => {
    for (let size = 1; size <= 33; size++) {
      for (let index = 0; index < size; index++) {
        const ranges = inclusionRanges(index, size);
        const path = ranges.map(rangeRoot);
        expect(rootFromLeafHash(all[index]!, index, size, path)).toEqual(
          rangeRoot({ start: 0, end: size }),
        );
        for (const range of ranges) {
          const parts = subtreesOf(range).map(({ level, index: at }) =>
            rangeRoot({ start: at * 2 ** level, end: (at + 1) * 2 ** level }),
          );
          expect(rootOfSubtrees(parts)).toEqual(rangeRoot(range));
        }
      }
    }
  });

  test("consistency: gives both roots, and no proof of one tree leads to another's root", () => {
    for (let second = 1; second <= 40; second++) {
      for (let first = 1; first <= second; first++) {
        const proof = consistencyRanges(first, second, true).map(rangeRoot);
        const roots = rootsOfConsistency(first, second, proof);
        expect(roots?.first).toEqual(rangeRoot({ start: 0, end: first }));
        expect(roots?.second).toEqual(rangeRoot({ start: 0, end: second }));
        expect(rootsOfConsistency(first, second, [...proof, all[0]!])).toBeUndefined();
        const plain = consistencyRanges(first, second);
        const isPower = Number.isInteger(Math.log2(first));
        const seeds = isPower || first === second ? 1 : 0;
        expect(plain.length).toBe(proof.length - seeds);
      }
    }
  });
});

describe("tiles", () => {
  test("paths: as the specification has them, and nothing else is one", () => {
    const tile = { level: 2, index: 1_234_067, width: 256 };
    expect(tilePath(tile)).toBe("tile/2/x001/x234/067");
    expect(tilePath({ level: 0, index: 0, width: 112 })).toBe("tile/0/000.p/112");
    expect(tilePath({ level: 0, index: 5, width: 256 }, true)).toBe("tile/entries/005");
    expect(parseTilePath("tile/2/x001/x234/067")).toEqual({ tile, isEntries: false });
    for (const path of [
      "tile/0/0",
      "tile/0/x000/001",
      "tile/64/000",
      "tile/00/000",
      "tile/0/000.p/256",
      "tile/0/000.p/0",
      "tile/0/000/",
      "tile/0/001/002",
      "tile/entries/000.p/01",
    ]) {
      expect(parseTilePath(path), path).toBeUndefined();
    }
  });

  test("a tree of 70,000: the tiles that the specification lists", () => {
    expect(tileAt(0, 272, 70_000).width).toBe(256);
    expect(tileAt(0, 273, 70_000).width).toBe(112);
    expect(tileAt(1, 0, 70_000).width).toBe(256);
    expect(tileAt(1, 1, 70_000).width).toBe(17);
    expect(tileAt(2, 0, 70_000).width).toBe(1);
  });

  test("a subtree's hash: from its tile", () => {
    const all = leaves(256);
    const tile = new Uint8Array(Buffer.concat(all));
    for (const subtree of [
      { level: 0, index: 7 },
      { level: 3, index: 5 },
      { level: 7, index: 1 },
    ]) {
      expect(tileOf(subtree, 256)).toEqual({ level: 0, index: 0, width: 256 });
      const from = subtree.index * 2 ** subtree.level;
      const expected = rootOfLeafHashes(all.slice(from, from + 2 ** subtree.level));
      expect(hashInTile(subtree, tile)).toEqual(expected);
    }
    expect(tileOf({ level: 8, index: 0 }, 300)).toEqual({ level: 1, index: 0, width: 1 });
  });
});

describe("signed notes", () => {
  const key = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
  const note =
    "This is an example message.\n\n" +
    "— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";

  test("the example of the specification", async () => {
    const parsed = parseNoteKey(key)!;
    expect(noteKeyText(parsed)).toBe(key);
    const asked: [Uint8Array, string][] = [];
    const verify = (publicKey: Uint8Array, message: Uint8Array) => {
      asked.push([publicKey, new TextDecoder().decode(message)]);
      return true;
    };
    expect(await isNoteSignedBy(parseNote(note)!, parsed, verify)).toBe(true);
    expect(asked).toEqual([[parsed.publicKey, "This is an example message.\n"]]);
    const other = { ...parsed, name: "example.com/bar" };
    expect(await isNoteSignedBy(parseNote(note)!, other, verify)).toBe(false);
  });

  test("what is no note or no key", () => {
    for (const text of ["", "text\n", note.slice(0, -1), note.replace("—", "-"), `${note}x\n`]) {
      expect(parseNote(text), text).toBeUndefined();
    }
    expect(parseNoteKey(key.replace("530d903a", "530d903b"))).toBeUndefined();
    expect(parseNoteKey("example.com/foo")).toBeUndefined();
  });
});

describe("bytes", () => {
  test("base64 and varint: back and forth; other spellings are refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.maxSafeNat(), (bytes, count) => {
        expect(base64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
        expect(bytesFromBase64(base64(bytes))).toEqual(bytes);
        expect(base64Url(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
        expect(bytesFromBase64Url(base64Url(bytes))).toEqual(bytes);
        expect(new ByteReader(varint(count)).varint()).toBe(count);
      }),
    );
    for (const wrong of ["A", "AB", "AB=", "AB==C", "A===", "AC==x", "AB=A", "A\n==", "QQ=="]) {
      if (wrong !== "QQ==") expect(bytesFromBase64(wrong), wrong).toBeUndefined();
    }
    expect(bytesFromBase64("QR==")).toBeUndefined();
    expect(() => new ByteReader(Uint8Array.of(0x80, 0)).varint()).toThrow(RangeError);
  });
});

test("receipt: back and forth; cut, longer or of another version it is none", () => {
  const context = {
    venueId: new Uint8Array(32).fill(1),
    position: 5,
    requestHash: new Uint8Array(32).fill(2),
    address: new Uint8Array(20).fill(3),
    block: 9,
  };
  const receipt = {
    statement: {
      ...context,
      session: 300,
      leafHash: new Uint8Array(32).fill(4),
      timeMs: 1_780_318_800_000,
      lastBlockHash: new Uint8Array(32).fill(5),
    },
    index: 11,
    size: 16,
    path: leaves(4),
    signature: new Uint8Array(64).fill(6),
    receiptKey: new Uint8Array(32).fill(7),
    certificate: new Uint8Array(64).fill(8),
  };
  const text = encodeReceipt(receipt);
  expect(decodeReceipt(text, context)).toEqual(receipt);
  const bytes = Buffer.from(text, "base64url");
  for (const changed of [
    bytes.subarray(0, -1),
    Buffer.concat([bytes, Buffer.of(0)]),
    Buffer.concat([Buffer.of(2), bytes.subarray(1)]),
  ]) {
    expect(decodeReceipt(changed.toString("base64url"), context)).toBeUndefined();
  }
  expect(decodeReceipt("", context)).toBeUndefined();
  expect(decodeReceipt("!", context)).toBeUndefined();
});

test("receipt: completed by what fits no statement it is none", () => {
  const context = {
    venueId: new Uint8Array(32),
    position: 5,
    requestHash: new Uint8Array(32),
    address: new Uint8Array(20),
    block: 9,
  };
  const [leafHash, lastBlockHash, receiptKey] = [0, 1, 2].map(() => new Uint8Array(32));
  const text = encodeReceipt({
    statement: {
      ...context,
      session: 1,
      timeMs: 1,
      leafHash: leafHash!,
      lastBlockHash: lastBlockHash!,
    },
    ...{ index: 0, size: 1, path: [], receiptKey: receiptKey! },
    ...{ signature: new Uint8Array(64), certificate: new Uint8Array(64) },
  });
  expect(decodeReceipt(text, context)).toBeDefined();
  for (const changed of [
    { position: Number.NaN },
    { position: 1.5 },
    { block: -1 },
    { venueId: new Uint8Array(0) },
    { requestHash: new Uint8Array(31) },
    { address: new Uint8Array(32) },
  ]) {
    expect(
      decodeReceipt(text, { ...context, ...changed }),
      JSON.stringify(changed),
    ).toBeUndefined();
  }
});
