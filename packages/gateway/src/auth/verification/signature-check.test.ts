import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifyWithOpenSsl, verifyWithSodium } from "./signature-check.js";

const SECRET = new Uint8Array(32).fill(3);
const KEY = ed25519.getPublicKey(SECRET);
const ORDER = ed25519.Point.Fn.ORDER;

/** Points of small order in canonical spelling: multiplied by eight, all of them are nothing. */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
];

describe("libsodium beside OpenSSL", () => {
  const sodium = verifyWithSodium;
  if (sodium === undefined) {
    test.skip("libsodium has no binary for this machine: OpenSSL checks alone", () => undefined);
    return;
  }
  const verdicts = (signature: Uint8Array, message: Uint8Array, key: Uint8Array) => ({
    sodium: sodium(signature, message, key),
    openSsl: verifyWithOpenSsl(signature, message, key),
  });

  test("signatures and forgeries at random: the same verdict", () => {
    const message = fc.uint8Array({ minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(message, fc.nat(63), fc.nat(8), (signed, at, bit) => {
        const signature = ed25519.sign(signed, SECRET);
        if (bit < 8) signature[at] = (signature[at] ?? 0) ^ (1 << bit);
        const { sodium: one, openSsl: other } = verdicts(signature, signed, KEY);
        expect(one).toBe(other);
        expect(one).toBe(bit === 8);
      }),
      { numRuns: 300 },
    );
  });

  test("another spelling of S, beyond the order of the group: refused by both", () => {
    const signature = ed25519.sign(Uint8Array.of(1), SECRET);
    let s = 0n;
    for (let i = 63; i >= 32; i--) s = (s << 8n) | BigInt(signature[i] ?? 0);
    s += ORDER;
    for (let i = 32; i < 64; i++, s >>= 8n) signature[i] = Number(s & 255n);
    expect(verdicts(signature, Uint8Array.of(1), KEY)).toEqual({ sodium: false, openSsl: false });
  });

  test("R and S of nothing: libsodium accepts none that OpenSSL refuses", () => {
    for (const hex of SMALL_ORDER) {
      const signature = new Uint8Array(64);
      signature.set(Buffer.from(hex, "hex"));
      for (const key of [KEY, Buffer.from(hex, "hex")]) {
        const { sodium: one, openSsl: other } = verdicts(signature, Uint8Array.of(7), key);
        expect(one && !other, hex).toBe(false);
        expect(one, hex).toBe(false);
      }
    }
  });
});
