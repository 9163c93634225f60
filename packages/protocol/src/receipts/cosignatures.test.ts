import { webcrypto } from "node:crypto";
import { expect, test } from "vitest";
import { TestCosigner } from "../testing/test-cosigner.js";
import { checkCosignatures } from "./cosignatures.js";
import { type NoteKey, parseNote, parseWitnessKey, type VerifyEd25519 } from "./signed-note.js";

const verify: VerifyEd25519 = async (publicKey, message, signature) => {
  const [raw, ...bytes] = [publicKey, signature, message].map((part) => Uint8Array.from(part));
  const key = await webcrypto.subtle.importKey("raw", raw!, "Ed25519", false, ["verify"]);
  return webcrypto.subtle.verify("Ed25519", key, bytes[0]!, bytes[1]!);
};

const TEXT = "venue.example/log\n7\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
const one = new TestCosigner("witness.example/w1");
const two = new TestCosigner("witness.example/w2");

function check(lines: readonly string[], keys: readonly NoteKey[]) {
  return checkCosignatures(parseNote(`${TEXT}\n${lines.join("")}`)!, keys, verify);
}

test("cosignatures: those that hold name their witnesses, each once", async () => {
  const lines = [two.line(TEXT), one.line(TEXT)];
  const keys = [one.key, two.key, one.key];
  const cosigners = ["witness.example/w1", "witness.example/w2"];
  expect(await check(lines, keys)).toEqual({ cosigners, invalid: [] });
});

test("cosignatures: of an unknown witness, or under another key of its name, are not checked", async () => {
  const namesake = new TestCosigner(one.key.name);
  const lines = [one.line(TEXT), two.line(TEXT)];
  expect(await check(lines, [])).toEqual({ cosigners: [], invalid: [] });
  expect(await check(lines, [namesake.key])).toEqual({ cosigners: [], invalid: [] });
  expect(await check(lines, [two.key])).toEqual({ cosigners: [two.key.name], invalid: [] });
});

test("cosignatures: a forged line, or one of another text, is invalid, also next to a valid one", async () => {
  const forged = two.line(TEXT, one.key);
  const other = one.line(TEXT.replace("7", "8"));
  const parsed = (line: string) => parseNote(`${TEXT}\n${line}`)!.signatures[0];
  const lines = [one.line(TEXT), forged, two.line(TEXT), other];
  expect(await check(lines, [one.key, two.key])).toEqual({
    cosigners: [two.key.name],
    invalid: [parsed(forged), parsed(other)],
  });
});

test("the key of a witness: only of cosignatures", () => {
  expect(parseWitnessKey(one.text)).toEqual(one.key);
  const logKey = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
  for (const text of [logKey, one.key.name, one.text.slice(0, -4), ""]) {
    expect(parseWitnessKey(text), text).toBeUndefined();
  }
});
