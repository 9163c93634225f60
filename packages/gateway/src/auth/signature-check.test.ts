import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionKeyOfRaw } from "./session-key.js";
import { openSslCheck, SignatureCheck, sodiumCheck } from "./signature-check.js";

const SECRET = new Uint8Array(32).fill(3);
const KEY = sessionKeyOfRaw(ed25519.getPublicKey(SECRET));
const ORDER = ed25519.Point.Fn.ORDER;

/** Points of small order in canonical encoding: eight times each is the neutral element. */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
];

describe("libsodium and OpenSSL", () => {
  const sodium = sodiumCheck();
  const verdicts = (signature: Uint8Array, message: Uint8Array, key = KEY) => ({
    sodium: sodium(signature, message, key),
    openSsl: openSslCheck(signature, message, key),
  });

  test("signatures and forgeries at random: the same verdict", () => {
    const message = fc.uint8Array({ minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(message, fc.nat(63), fc.nat(8), (signed, at, bit) => {
        const signature = ed25519.sign(signed, SECRET);
        if (bit < 8) signature[at] = (signature[at] ?? 0) ^ (1 << bit);
        const { sodium: one, openSsl: other } = verdicts(signature, signed);
        expect(one).toBe(other);
        expect(one).toBe(bit === 8);
      }),
      { numRuns: 300 },
    );
  });

  test("another encoding of S, above the order of the group: refused by both", () => {
    const signature = ed25519.sign(Uint8Array.of(1), SECRET);
    let s = 0n;
    for (let i = 63; i >= 32; i--) s = (s << 8n) | BigInt(signature[i] ?? 0);
    s += ORDER;
    for (let i = 32; i < 64; i++, s >>= 8n) signature[i] = Number(s & 255n);
    expect(verdicts(signature, Uint8Array.of(1))).toEqual({ sodium: false, openSsl: false });
  });

  test("a signature of the key's owner with an R of small order: refused by both", () => {
    const message = Uint8Array.of(7);
    for (const hex of SMALL_ORDER) {
      const r = Buffer.from(hex, "hex");
      const signature = signatureWithR(r, message);
      // The equation holds up to the cofactor; with R = 0 it holds exactly.
      expect(verdicts(signature, message), hex).toEqual({ sodium: false, openSsl: false });
    }
  });

  test("a key of small order: refused by both, whatever R is", () => {
    for (const hex of SMALL_ORDER) {
      const signature = new Uint8Array(64);
      signature.set(Buffer.from(hex, "hex"));
      const verdict = verdicts(
        signature,
        Uint8Array.of(7),
        sessionKeyOfRaw(Buffer.from(hex, "hex")),
      );
      expect(verdict, hex).toEqual({ sodium: false, openSsl: false });
    }
  });
});

test("SignatureCheck: a signature over the digest or over the body, and a forgery", () => {
  const check = new SignatureCheck();
  const body = Buffer.from("{}");
  const digest = createHash("sha256").update(body).digest();
  expect(check.isValid(KEY, body, ed25519.sign(digest, SECRET))).toBe(true);
  expect(check.isValid(KEY, body, ed25519.sign(body, SECRET))).toBe(true);
  expect(check.isValid(KEY, Buffer.from("[]"), ed25519.sign(body, SECRET))).toBe(false);
});

/** A signature that the owner of the key can make for a chosen R: S = h·a. */
function signatureWithR(r: Uint8Array, message: Uint8Array): Uint8Array {
  const digest = createHash("sha512").update(r).update(KEY.raw).update(message).digest();
  const { scalar } = ed25519.utils.getExtendedPublicKey(SECRET);
  let s = (littleEndian(digest) * scalar) % ORDER;
  const signature = new Uint8Array(64);
  signature.set(r);
  for (let i = 32; i < 64; i++, s >>= 8n) signature[i] = Number(s & 255n);
  return signature;
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
}
