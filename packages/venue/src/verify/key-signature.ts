/**
 * Checks signatures of session keys from the bytes of the log: Ed25519 over the body's digest or the
 * body itself, secp256k1 over the digest. Runs in the thread pool.
 */
import { createHash, createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { derOfPublicKey, hasSmallOrderR } from "@perpgate/protocol/core";

const ED25519_BYTES = 32;

export interface VerifyingKey {
  readonly kind: "ed25519" | "secp256k1";
  readonly object: KeyObject;
}

/** A key from the raw bytes in the log: 32 of Ed25519, or 33 (compressed) of secp256k1. */
export function verifyingKey(raw: Uint8Array): VerifyingKey {
  const kind = raw.length === ED25519_BYTES ? "ed25519" : "secp256k1";
  const key = Buffer.from(derOfPublicKey(raw));
  return { kind, object: createPublicKey({ key, format: "der", type: "spki" }) };
}

/** SHA-256 of a public key in hex: the key's id in log and engine. */
export function fingerprintOf(publicKey: Uint8Array): string {
  return hash("sha256", publicKey, "hex");
}

/** Whether the key made the signature (64 bytes) over the body. */
export async function isSignedBy(
  { kind, object }: VerifyingKey,
  body: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (signature.length !== 64) return false;
  if (kind === "secp256k1") {
    return verified("sha256", body, { key: object, dsaEncoding: "ieee-p1363" }, signature);
  }
  // libsodium, which checks orders on some machines, refuses these.
  if (hasSmallOrderR(signature)) return false;
  const digest = createHash("sha256").update(body).digest();
  if (await verified(null, digest, { key: object }, signature)) return true;
  return verified(null, body, { key: object }, signature);
}

/** Ed25519 over the bytes themselves, as attestors sign. */
export function isSignedExactly(
  { object }: VerifyingKey,
  bytes: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  return signature.length === 64
    ? verified(null, bytes, { key: object }, signature)
    : Promise.resolve(false);
}

function verified(
  algorithm: string | null,
  data: Uint8Array,
  key: { readonly key: KeyObject; readonly dsaEncoding?: "ieee-p1363" },
  signature: Uint8Array,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(algorithm, data, key, signature, (error, isValid) => {
      if (error === null) resolve(isValid);
      else reject(error);
    });
  });
}
