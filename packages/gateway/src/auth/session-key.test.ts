import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { ApiError, hexFromBytes } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { sessionKeyOfRaw } from "./session-key.js";
import { readSessionKey } from "./testing/proofs.js";

const SECRET = new Uint8Array(32).fill(7);
const ED25519 = ed25519.getPublicKey(SECRET);
const COMPRESSED = secp256k1.getPublicKey(SECRET, true);
const UNCOMPRESSED = secp256k1.getPublicKey(SECRET, false);

/** Little-endian bytes of a number, as Ed25519 writes them. */
function littleEndian(value: bigint, signBit = false): string {
  const bytes = Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();
  if (signBit) bytes[31] = (bytes[31] ?? 0) | 0x80;
  return bytes.toString("hex");
}

const P = 2n ** 255n - 19n;

describe("readSessionKey", () => {
  test("Ed25519: raw bytes, fingerprint and key, in any case and with 0x", () => {
    const hex = hexFromBytes(ED25519);
    for (const text of [hex, `0x${hex}`, hex.toUpperCase(), `0X${hex.toUpperCase()}`]) {
      const key = readSessionKey(text, "sessionKey");
      expect(key.kind).toBe("ed25519");
      expect(hexFromBytes(key.raw)).toBe(hex);
      expect(key.fingerprint).toBe(createHash("sha256").update(ED25519).digest("hex"));
      expect(key.keyObject.asymmetricKeyType).toBe("ed25519");
    }
  });

  test("secp256k1: three spellings, one key", () => {
    const spellings = [COMPRESSED, UNCOMPRESSED, UNCOMPRESSED.subarray(1)];
    const keys = spellings.map((bytes) => readSessionKey(hexFromBytes(bytes), "sessionKey"));
    for (const key of keys) {
      expect(key.kind).toBe("secp256k1");
      expect(hexFromBytes(key.raw)).toBe(hexFromBytes(COMPRESSED));
      expect(key.fingerprint).toBe(createHash("sha256").update(COMPRESSED).digest("hex"));
      expect(key.keyObject.asymmetricKeyDetails?.namedCurve).toBe("secp256k1");
    }
  });

  test("sessionKeyOfRaw: gives back the key of its raw bytes", () => {
    for (const bytes of [ED25519, COMPRESSED]) {
      const key = readSessionKey(hexFromBytes(bytes), "sessionKey");
      expect(sessionKeyOfRaw(key.raw)).toMatchObject({
        kind: key.kind,
        fingerprint: key.fingerprint,
      });
    }
  });

  // The eight torsion points, and the encodings of them that RFC 8032 does not allow.
  const order8 = [
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  ];
  test.each([
    ["the identity", littleEndian(1n)],
    ["order 2", littleEndian(P - 1n)],
    ["order 4", littleEndian(0n)],
    ["order 4, negative", littleEndian(0n, true)],
    ...order8.map((hex, i): [string, string] => [`order 8 (${i})`, hex]),
  ])("Ed25519 of small order: %s is refused", (_, hex) => {
    expect(() => readSessionKey(hex, "sessionKey")).toThrow(/small order/);
  });

  test.each([
    ["the identity with the sign bit", littleEndian(1n, true)],
    ["order 2 with the sign bit", littleEndian(P - 1n, true)],
    ["y = p", littleEndian(P)],
    ["y = p + 1", littleEndian(P + 1n)],
    ["y = p, negative", littleEndian(P, true)],
    ["y = 2^255 − 1", littleEndian(2n ** 255n - 1n)],
    ["y = 2, not on the curve", littleEndian(2n)],
  ])("Ed25519 that is not canonical: %s is refused", (_, hex) => {
    expect(() => readSessionKey(hex, "sessionKey")).toThrow(/not a canonical/);
  });

  test.each([
    ["x beyond the field", `02${"ff".repeat(32)}`],
    ["x on no point", `02${"00".repeat(31)}05`],
    ["a prefix of 05", `05${hexFromBytes(COMPRESSED.subarray(1))}`],
    ["a prefix of 04 on 33 bytes", `04${hexFromBytes(COMPRESSED.subarray(1))}`],
    ["y of another point", hexFromBytes(UNCOMPRESSED.with(64, (UNCOMPRESSED[64] ?? 0) ^ 1))],
    ["x and y that are zero", "00".repeat(64)],
    ["a hybrid prefix", `06${hexFromBytes(UNCOMPRESSED.subarray(1))}`],
  ])("secp256k1: %s is refused", (_, hex) => {
    expect(() => readSessionKey(hex, "newSessionKey")).toThrow(/not a point of secp256k1/);
  });

  test.each(["", "0x", "zz".repeat(32), "ab".repeat(31), "ab".repeat(34), "ab".repeat(66)])(
    "%j: 400 that names the field",
    (text) => {
      expect(() => readSessionKey(text, "newSessionKey")).toThrow(
        expect.objectContaining({
          constructor: ApiError,
          code: "invalid_session_key",
          status: 400,
          field: "newSessionKey",
        }),
      );
    },
  );
});
