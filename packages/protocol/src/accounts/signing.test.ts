import { createECDH, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withVectors } from "../testing/vectors.js";
import { hexFromBytes } from "../text/hex.js";
import { derOfPublicKey, parseSessionKey, SESSION_KEY_PATTERN } from "./session-key.js";
import { compactSignature, decodeSignature } from "./signing.js";

const bytes64 = fc.uint8Array({ minLength: 64, maxLength: 72 });

describe("signature header", () => {
  test("decodeSignature: hex, base64 and base64url of the same bytes are one signature", () => {
    fc.assert(
      fc.property(bytes64, (signature) => {
        const buffer = Buffer.from(signature);
        const base64 = buffer.toString("base64");
        const spellings = [
          buffer.toString("hex"),
          buffer.toString("hex").toUpperCase(),
          `0x${buffer.toString("hex")}`,
          base64,
          base64.replace(/=+$/, ""),
          buffer.toString("base64url"),
        ];
        for (const text of spellings) expect(decodeSignature(text)).toEqual(signature);
      }),
    );
  });

  test("decodeSignature: fewer than 128 hex digits are base64", () => {
    const text = "ab".repeat(32);
    expect(decodeSignature(text)).toEqual(new Uint8Array(Buffer.from(text, "base64")));
  });

  test.each(["", "=", "a", "====", "a===", "ab=", "ab c", "ab+_", "zz!!", "é".repeat(64)])(
    "decodeSignature: %j is no signature of 64 bytes",
    (text) => {
      expect(decodeSignature(text)?.length ?? 0).toBeLessThan(64);
    },
  );

  test("decodeSignature: a long header is rejected before it is decoded", () => {
    expect(decodeSignature("A".repeat(60_000))).toBeUndefined();
  });
});

describe("compactSignature", () => {
  test("secp256k1: DER, r‖s and r‖s‖v of one signature agree", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
    for (let round = 0; round < 200; round++) {
      const message = Buffer.from(`order ${round}`);
      const der = sign("sha256", message, { key: privateKey, dsaEncoding: "der" });
      const compact = compactSignature("secp256k1", new Uint8Array(der));
      expect(compact?.length).toBe(64);
      expect(der.toString("hex")).toContain(hexFromBytes(compact ?? new Uint8Array()).slice(2, 62));
    }
    const plain = new Uint8Array(64).fill(7);
    expect(compactSignature("secp256k1", plain)).toEqual(plain);
    expect(compactSignature("secp256k1", new Uint8Array([...plain, 27]))).toEqual(plain);
  });

  test("secp256k1: r‖s‖v whose r begins with the DER tag is still r‖s‖v", () => {
    const signature = new Uint8Array(65).fill(0x30);
    expect(compactSignature("secp256k1", signature)).toEqual(signature.subarray(0, 64));
  });

  test.each([
    ["a length that lies", "3007020101020101"],
    ["a negative integer", "3006020181020101"],
    ["a padded integer", "300702020001020101"],
    ["an empty integer", "30050200020101"],
    ["bytes after the end", "300602010102010100"],
    ["a missing second integer", "3003020101"],
    ["an integer past the end", "30060201010205ff"],
    ["another tag", "3106020101020101"],
  ])("secp256k1: DER with %s is rejected", (_, hex) => {
    expect(compactSignature("secp256k1", new Uint8Array(Buffer.from(hex, "hex")))).toBeUndefined();
  });

  test("ed25519: 64 bytes only", () => {
    expect(compactSignature("ed25519", new Uint8Array(64))).toHaveLength(64);
    expect(compactSignature("ed25519", new Uint8Array(65))).toBeUndefined();
    expect(compactSignature("ed25519", new Uint8Array(63))).toBeUndefined();
  });
});

describe("session keys", () => {
  test.each([
    [32, "ed25519"],
    [33, "secp256k1"],
    [64, "secp256k1"],
    [65, "secp256k1"],
  ])("%d bytes: %s, with and without 0x", (length, kind) => {
    const text = "ab".repeat(length);
    expect(parseSessionKey(text)?.kind).toBe(kind);
    expect(parseSessionKey(`0x${text}`)?.bytes).toHaveLength(length);
  });

  test("as DER: equal to OpenSSL's", () => {
    const edwards = generateKeyPairSync("ed25519").publicKey;
    const { x = "" } = edwards.export({ format: "jwk" });
    const raw = Buffer.from(x, "base64url");
    expect(Buffer.from(derOfPublicKey(raw))).toEqual(
      edwards.export({ format: "der", type: "spki" }),
    );
    const koblitz = createECDH("secp256k1");
    const affine = koblitz.generateKeys();
    const key = createPublicKey({
      key: Buffer.from(derOfPublicKey(koblitz.getPublicKey(null, "compressed"))),
      format: "der",
      type: "spki",
    });
    expect(key.export({ format: "jwk" })).toMatchObject({
      crv: "secp256k1",
      x: affine.subarray(1, 33).toString("base64url"),
      y: affine.subarray(33).toString("base64url"),
    });
  });

  test("any other text: rejected, also by the schema's pattern", () => {
    const pattern = new RegExp(SESSION_KEY_PATTERN);
    const hexish = fc.string({
      unit: fc.constantFrom(..."0123456789abcdefABCDEFxXg"),
      maxLength: 140,
    });
    fc.assert(
      fc.property(fc.oneof(hexish, fc.string()), (text) => {
        expect(parseSessionKey(text) !== undefined).toBe(pattern.test(text));
      }),
    );
    expect(parseSessionKey(`${"ab".repeat(31)}zz`)).toBeUndefined();
  });
});

interface Group {
  readonly tests: readonly { readonly result: string; readonly sig: string }[];
}

withVectors("wycheproof", (folder) => {
  describe("Wycheproof", () => {
    test("secp256k1 DER: every valid signature has a compact form", () => {
      const file = join(folder, "ecdsa_secp256k1_sha256_test.json");
      const { testGroups }: { testGroups: readonly Group[] } = JSON.parse(
        readFileSync(file, "utf8"),
      );
      const valid = testGroups.flatMap(({ tests }) => tests.filter((t) => t.result === "valid"));
      expect(valid.length).toBeGreaterThan(100);
      for (const { sig } of valid) {
        const bytes = new Uint8Array(Buffer.from(sig, "hex"));
        expect(compactSignature("secp256k1", bytes), sig).toHaveLength(64);
      }
    });
  });
});
