import { generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { expect, test } from "vitest";
import { parseCheckpoint } from "./checkpoint.js";
import { NOTE_KEY, type NoteKey, noteKeyText, parseNote, signatureLine } from "./signed-note.js";
import { logKeyChain, MAX_SUCCESSORS, parseNotes, successorText } from "./successors.js";

interface Pair extends NoteKey {
  readonly privateKey: KeyObject;
  readonly publicObject: KeyObject;
}

const pairs: Pair[] = [];

function newPair(name: string): Pair {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const bytes = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const pair = {
    name,
    algorithm: NOTE_KEY.ed25519,
    publicKey: bytes,
    privateKey,
    publicObject: publicKey,
  };
  pairs.push(pair);
  return pair;
}

const verifyHere = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => {
  const pair = pairs.find((each) => Buffer.from(publicKey).equals(each.publicKey));
  return pair !== undefined && verify(null, message, pair.publicObject, signature);
};

function note(from: Pair, to: Pair, signers: readonly [Pair, Pair] = [from, to]): string {
  const text = successorText({ from, to });
  const line = (key: Pair, signer: Pair) =>
    signatureLine(key, sign(null, Buffer.from(text), signer.privateKey));
  return `${text}\n${line(from, signers[0])}${line(to, signers[1])}`;
}

const [a, b, c, thief] = [newPair("v/log"), newPair("v/log"), newPair("v/log3"), newPair("v/log")];
const chainOf = async (pinned: Pair, notes: readonly string[]) => {
  const chain = await logKeyChain(pinned, notes, verifyHere);
  return typeof chain === "string" ? chain : chain.map(noteKeyText);
};

test("the chain of a key: from any of its keys, in any order of the notes", async () => {
  const all = [a, b, c].map(noteKeyText);
  for (const pinned of [a, b, c]) {
    expect(await chainOf(pinned, [note(b, c), note(a, b), note(a, b)])).toEqual(all);
  }
  expect(await chainOf(thief, [note(a, b)])).toEqual([noteKeyText(thief)]);
});

test.each([
  ["signed by another key as the old one", [note(a, thief, [thief, thief])], "is not signed by"],
  ["not accepted by the new key", [note(a, b, [a, a])], "is not signed by"],
  ["two successors of one key", [note(a, b), note(a, c)], "has two successors"],
  ["one successor of two keys", [note(a, c), note(b, c)], "succeeds two keys"],
  ["a circle", [note(a, b), note(b, c), note(c, a)], "form a circle"],
  ["a key that succeeds itself", [note(a, a)], "form a circle"],
  ["too many", Array(MAX_SUCCESSORS + 1).fill(note(a, b)), "more than 16"],
  ["no note", ["x"], "cannot be read"],
  ["a line more", [note(a, b).replace("\n\n", "\n1\n\n")], "cannot be read"],
] satisfies [string, string[], string][])("refused: %s", async (_, notes, reason) => {
  expect(await chainOf(a, notes)).toContain(reason);
});

test("a successor note: no checkpoint; and a list of notes that is none", () => {
  const parsed = parseNote(note(a, b));
  expect(parsed === undefined ? "no note" : parseCheckpoint(parsed)).toBeUndefined();
  for (const text of ["", "{}", "[1]", "null"]) expect(parseNotes(text)).toBeUndefined();
  expect(parseNotes(JSON.stringify([note(a, b)]))).toEqual([note(a, b)]);
});
