import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { ApiError } from "@perpgate/protocol";
import { hexFromBytes } from "@perpgate/protocol/core";
import { afterAll, describe, expect, test } from "vitest";
import { checkSignature, digestOf, readSignature } from "./order-signature.js";
import type { SessionKey } from "./session-key.js";
import { readSessionKey } from "./testing/proofs.js";
import { withVectors } from "./testing/vectors.js";
import { poolVerifier } from "./verification/pool-verifier.js";
import { ThreadVerifier } from "./verification/thread-verifier.js";

const SECRET = new Uint8Array(32).fill(9);
const ED25519 = readSessionKey(hexFromBytes(ed25519.getPublicKey(SECRET)), "sessionKey");
const SECP256K1 = readSessionKey(hexFromBytes(secp256k1.getPublicKey(SECRET)), "sessionKey");
const BODY = Buffer.from('{"symbol":"BTCUSD","nonce":1}');
const DIGEST = digestOf(BODY);
const HIGH_S = { prehash: true, lowS: false } as const;

const threads = await ThreadVerifier.start(1);
afterAll(() => threads.close());

/** The verdict of both verifiers, which must agree. */
async function verdictOf(
  key: SessionKey,
  header: string,
  body: Uint8Array = BODY,
): Promise<"valid" | "invalid"> {
  const verdicts = await Promise.all(
    [poolVerifier, threads].map(async (verifier) => {
      try {
        await checkSignature(verifier, key, body, readSignature(header, key, body));
        return "valid";
      } catch (error) {
        expect(error).toMatchObject({ name: "ApiError", code: "invalid_signature" });
        return "invalid";
      }
    }),
  );
  expect(verdicts[1]).toBe(verdicts[0]);
  return verdicts[0] ?? "invalid";
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
  ])("Ed25519 over %s: valid in every spelling", async (_, signed) => {
    for (const header of spellings(ed25519.sign(signed, SECRET))) {
      expect(await verdictOf(ED25519, header), header).toBe("valid");
    }
  });

  test("secp256k1: compact, with recovery byte and DER, high and low S, every spelling", async () => {
    const compact = secp256k1.sign(BODY, SECRET, { prehash: true });
    for (const bytes of [compact, flipped(compact)]) {
      const { r, s } = secp256k1.Signature.fromBytes(bytes);
      const der = new secp256k1.Signature(r, s).toBytes("der");
      const withV = [0, 1, 27, 28].map((v) => Buffer.concat([bytes, Uint8Array.of(v)]));
      for (const form of [bytes, der, ...withV]) {
        for (const header of spellings(form)) {
          expect(await verdictOf(SECP256K1, header), header).toBe("valid");
        }
      }
    }
  });

  test("a changed byte of body, digest or signature: invalid", async () => {
    const signatures: [SessionKey, Uint8Array][] = [
      [ED25519, ed25519.sign(DIGEST, SECRET)],
      [ED25519, ed25519.sign(BODY, SECRET)],
      [SECP256K1, secp256k1.sign(BODY, SECRET, HIGH_S)],
    ];
    for (const [key, signature] of signatures) {
      const header = Buffer.from(signature).toString("hex");
      expect(await verdictOf(key, header)).toBe("valid");
      expect(await verdictOf(key, header, Buffer.from(`${BODY} `))).toBe("invalid");
      for (const at of [0, 31, 32, 63]) {
        const changed = signature.with(at, (signature[at] ?? 0) ^ 1);
        expect(await verdictOf(key, Buffer.from(changed).toString("hex"))).toBe("invalid");
      }
    }
  });

  test("another key, another kind, another scheme: invalid", async () => {
    const other = new Uint8Array(32).fill(8);
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
    expect(await verdictOf(ED25519, hex(ed25519.sign(DIGEST, other)))).toBe("invalid");
    expect(await verdictOf(SECP256K1, hex(secp256k1.sign(BODY, other)))).toBe("invalid");
    expect(await verdictOf(SECP256K1, hex(ed25519.sign(DIGEST, SECRET)))).toBe("invalid");
    expect(await verdictOf(ED25519, hex(secp256k1.sign(BODY, SECRET)))).toBe("invalid");
    // The digest of the digest is not what is signed.
    const twice = secp256k1.sign(DIGEST, SECRET, { prehash: true });
    expect(await verdictOf(SECP256K1, hex(twice))).toBe("invalid");
  });

  test("random bytes of any length: invalid, and never an exception of another kind", async () => {
    for (let length = 1; length < 80; length++) {
      for (const key of [ED25519, SECP256K1]) {
        expect(await verdictOf(key, randomBytes(length).toString("base64"))).toBe("invalid");
      }
    }
    for (const header of ["zz", "0x", "====", "é", "a".repeat(10_000), "0x".repeat(70)]) {
      expect(await verdictOf(ED25519, header)).toBe("invalid");
    }
  });
});

describe("readSignature", () => {
  test.each([undefined, ""])("%j: 401 that shows how to sign", (header) => {
    expect(() => readSignature(header, ED25519, BODY)).toThrow(
      expect.objectContaining({ code: "signature_required", status: 401, field: "X-Service-Sig" }),
    );
  });

  test("a wrong signature: the 401 has digest, kind and fingerprint, and no secret", async () => {
    const signature = Buffer.from(ed25519.sign(DIGEST, new Uint8Array(32).fill(8)));
    const refusal: ApiError = await checkSignature(poolVerifier, ED25519, BODY, signature).then(
      () => {
        throw new Error("it was accepted");
      },
      (error) => error,
    );
    expect(refusal).toMatchObject({ code: "invalid_signature", status: 401 });
    expect(refusal.details).toEqual({
      problem: "it does not verify",
      bodySha256: hexFromBytes(DIGEST),
      kind: "ed25519",
      fingerprint: ED25519.fingerprint,
    });
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
  async function run<Key>(file: string, hexOf: (key: Key) => string): Promise<number> {
    let cases = 0;
    for (const { publicKey, tests } of read<Wycheproof<Key>>(file).testGroups) {
      const key = readSessionKey(hexOf(publicKey), "sessionKey");
      for (const { tcId, comment, msg, sig, result } of tests) {
        const body = Buffer.from(msg, "hex");
        // Short signatures are read as base64, where hex digits alone are something else.
        const header = Buffer.from(sig, "hex").toString("base64");
        const verdict = header === "" ? "invalid" : await verdictOf(key, header, body);
        expect(verdict, `${file} ${tcId}: ${comment}`).toBe(result);
        cases++;
      }
    }
    return cases;
  }

  describe("Wycheproof", () => {
    test("Ed25519, the message as the body", async () => {
      const cases = await run<{ pk: string }>("ed25519_test.json", ({ pk }) => pk);
      expect(cases).toBe(151);
    });

    test("secp256k1 over SHA-256, DER", async () => {
      const file = "ecdsa_secp256k1_sha256_test.json";
      expect(await run<{ uncompressed: string }>(file, (key) => key.uncompressed)).toBe(476);
    });

    test("secp256k1 over SHA-256, r and s", async () => {
      const file = "ecdsa_secp256k1_sha256_p1363_test.json";
      expect(await run<{ uncompressed: string }>(file, (key) => key.uncompressed)).toBe(252);
    });
  });
});
