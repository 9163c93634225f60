import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexFromBytes } from "@perpgate/protocol/core";
import { describe, expect, test } from "vitest";
import { checkSignature, readSignature } from "./order-signature.js";
import type { SessionPublicKey } from "./session-key.js";
import { digestOf, openSslCheck, SignatureCheck, sodiumCheck } from "./signature-check.js";
import { readSessionKey } from "./testing/proofs.js";
import { withVectors } from "./testing/vectors.js";

const SECRET = new Uint8Array(32).fill(9);
const ED25519 = readSessionKey(hexFromBytes(ed25519.getPublicKey(SECRET)), "sessionKey");
const SECP256K1 = readSessionKey(hexFromBytes(secp256k1.getPublicKey(SECRET)), "sessionKey");
const BODY = Buffer.from('{"symbol":"BTCUSD","nonce":1}');
const DIGEST = digestOf(BODY);
const HIGH_S = { prehash: true, lowS: false } as const;

const SIGNATURES = new SignatureCheck();
const sodium = sodiumCheck();

/** For Ed25519 both implementations must agree, whichever this machine uses. */
function verdictOf(
  key: SessionPublicKey,
  header: string,
  body: Uint8Array = BODY,
): "valid" | "invalid" {
  try {
    const signature = readSignature(header, key, body);
    for (const message of key.kind === "ed25519" ? [digestOf(body), body] : []) {
      expect(sodium(signature, message, key)).toBe(openSslCheck(signature, message, key));
    }
    checkSignature(SIGNATURES, key, body, signature);
    return "valid";
  } catch (error) {
    expect(error).toMatchObject({ name: "ApiError", code: "invalid_signature" });
    return "invalid";
  }
}

/** Every encoding of the same bytes that the contract allows. */
function spellings(signature: Uint8Array): string[] {
  const bytes = Buffer.from(signature);
  const hex = bytes.toString("hex");
  const base64 = bytes.toString("base64");
  return [
    hex,
    `0x${hex}`,
    hex.toUpperCase(),
    base64,
    base64.replaceAll("=", ""),
    bytes.toString("base64url"),
    base64.replaceAll("+", "-").replaceAll("/", "_"),
  ];
}

/** The other S of the same signature. */
function flipped(compact: Uint8Array): Uint8Array {
  const { r, s } = secp256k1.Signature.fromBytes(compact);
  return new secp256k1.Signature(r, secp256k1.Point.Fn.ORDER - s).toBytes();
}

describe("checkSignature", () => {
  test.each([
    ["SHA-256(body)", DIGEST],
    ["the body", BODY],
  ])("Ed25519 over %s: valid in every spelling", (_, signed) => {
    for (const header of spellings(ed25519.sign(signed, SECRET))) {
      expect(verdictOf(ED25519, header), header).toBe("valid");
    }
  });

  test("88 characters that Node reads as a signature: valid only in an alphabet of base64", () => {
    const base64 = Buffer.from(ed25519.sign(DIGEST, SECRET)).toString("base64");
    // The last character has four bits that stand for nothing.
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const last = alphabet[alphabet.indexOf(base64[85]!) + 1]!;
    expect(verdictOf(ED25519, `${base64.slice(0, 85)}${last}==`)).toBe("valid");
    for (const header of [
      `${base64.slice(0, 86)} =`,
      `${base64.slice(0, 86)}=!`,
      `+_${base64.slice(2)}`,
    ]) {
      expect(Buffer.from(header, "base64").length, header).toBeGreaterThanOrEqual(64);
      expect(verdictOf(ED25519, header), header).toBe("invalid");
    }
  });

  test("secp256k1: compact, with recovery byte and DER, high and low S, every spelling", () => {
    const compact = secp256k1.sign(BODY, SECRET, { prehash: true });
    for (const bytes of [compact, flipped(compact)]) {
      const { r, s } = secp256k1.Signature.fromBytes(bytes);
      const der = new secp256k1.Signature(r, s).toBytes("der");
      const withV = [0, 1, 27, 28].map((v) => Buffer.concat([bytes, Uint8Array.of(v)]));
      for (const form of [bytes, der, ...withV]) {
        for (const header of spellings(form)) {
          expect(verdictOf(SECP256K1, header), header).toBe("valid");
        }
      }
    }
  });

  test("a changed byte of body, digest or signature: invalid", () => {
    const signatures: [SessionPublicKey, Uint8Array][] = [
      [ED25519, ed25519.sign(DIGEST, SECRET)],
      [ED25519, ed25519.sign(BODY, SECRET)],
      [SECP256K1, secp256k1.sign(BODY, SECRET, HIGH_S)],
    ];
    for (const [key, signature] of signatures) {
      const header = Buffer.from(signature).toString("hex");
      expect(verdictOf(key, header)).toBe("valid");
      expect(verdictOf(key, header, Buffer.from(`${BODY} `))).toBe("invalid");
      for (const at of [0, 31, 32, 63]) {
        const changed = signature.with(at, (signature[at] ?? 0) ^ 1);
        expect(verdictOf(key, Buffer.from(changed).toString("hex"))).toBe("invalid");
      }
    }
  });

  test("another key, another kind, another scheme: invalid", () => {
    const other = new Uint8Array(32).fill(8);
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
    expect(verdictOf(ED25519, hex(ed25519.sign(DIGEST, other)))).toBe("invalid");
    expect(verdictOf(SECP256K1, hex(secp256k1.sign(BODY, other)))).toBe("invalid");
    expect(verdictOf(SECP256K1, hex(ed25519.sign(DIGEST, SECRET)))).toBe("invalid");
    expect(verdictOf(ED25519, hex(secp256k1.sign(BODY, SECRET)))).toBe("invalid");
    // The digest of the digest is not what is signed.
    const twice = secp256k1.sign(DIGEST, SECRET, { prehash: true });
    expect(verdictOf(SECP256K1, hex(twice))).toBe("invalid");
  });

  test("random bytes of any length: invalid, and never an exception of another kind", () => {
    for (let length = 1; length < 80; length++) {
      for (const key of [ED25519, SECP256K1]) {
        expect(verdictOf(key, randomBytes(length).toString("base64"))).toBe("invalid");
      }
    }
    for (const header of ["zz", "0x", "====", "é", "a".repeat(10_000), "0x".repeat(70)]) {
      expect(verdictOf(ED25519, header)).toBe("invalid");
    }
  });
});

describe("readSignature", () => {
  test.each([undefined, ""])("%j: 401 that shows how to sign", (header) => {
    expect(() => readSignature(header, ED25519, BODY)).toThrow(
      expect.objectContaining({ code: "signature_required", status: 401, field: "X-Service-Sig" }),
    );
  });

  test("a wrong signature: the 401 has digest, kind and fingerprint, and no secret", () => {
    const signature = Buffer.from(ed25519.sign(DIGEST, new Uint8Array(32).fill(8)));
    expect(() => checkSignature(SIGNATURES, ED25519, BODY, signature)).toThrow(
      expect.objectContaining({
        code: "invalid_signature",
        status: 401,
        details: {
          problem: "it does not verify",
          bodySha256: hexFromBytes(DIGEST),
          kind: "ed25519",
          fingerprint: ED25519.fingerprint,
        },
      }),
    );
  });
});

interface Wycheproof<Key> {
  readonly testGroups: readonly {
    readonly publicKey: Key;
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly msg: string;
      readonly sig: string;
      readonly result: string;
    }[];
  }[];
}

withVectors("wycheproof", (read) => {
  function run<Key>(file: string, hexOf: (key: Key) => string): number {
    let cases = 0;
    for (const { publicKey, tests } of read<Wycheproof<Key>>(file).testGroups) {
      const key = readSessionKey(hexOf(publicKey), "sessionKey");
      for (const { tcId, comment, msg, sig, result } of tests) {
        const body = Buffer.from(msg, "hex");
        // Short signatures are read as base64, where hex digits alone are something else.
        const header = Buffer.from(sig, "hex").toString("base64");
        const verdict = header === "" ? "invalid" : verdictOf(key, header, body);
        expect(verdict, `${file} ${tcId}: ${comment}`).toBe(result);
        cases++;
      }
    }
    return cases;
  }

  describe("Wycheproof", () => {
    test("Ed25519, the message as the body", () => {
      const cases = run<{ pk: string }>("ed25519_test.json", ({ pk }) => pk);
      expect(cases).toBe(151);
    });

    test("secp256k1 over SHA-256, DER", () => {
      const file = "ecdsa_secp256k1_sha256_test.json";
      expect(run<{ uncompressed: string }>(file, (key) => key.uncompressed)).toBe(476);
    });

    test("secp256k1 over SHA-256, r and s", () => {
      const file = "ecdsa_secp256k1_sha256_p1363_test.json";
      expect(run<{ uncompressed: string }>(file, (key) => key.uncompressed)).toBe(252);
    });
  });
});
