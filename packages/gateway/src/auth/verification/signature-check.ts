/**
 * One signature over one body, judged at once by the calling thread.
 *
 * In: a raw public key (32 bytes of Ed25519, 33 of secp256k1), the body, a signature of 64 bytes.
 * Ed25519 may cover the body's digest, as the documentation tells clients, or the body itself.
 *
 * Ed25519 is libsodium's where its binary loads: half the time of OpenSSL's. It accepts nothing that
 * OpenSSL would refuse, so that whoever verifies the log with the one agrees with the other.
 */

import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import { createRequire } from "node:module";
import { derOfPublicKey } from "@perpgate/protocol/session-key";

type VerifyEd25519 = (signature: Uint8Array, message: Uint8Array, rawKey: Uint8Array) => boolean;

const ED25519_KEY_BYTES = 32;
/** Beyond it all are dropped and made again as they are needed. */
const KEPT_KEYS = 50_000;

const keys = new Map<string, KeyObject>();

export const verifyWithOpenSsl: VerifyEd25519 = (signature, message, rawKey) =>
  verify(null, message, keyOf(rawKey), signature);

/** libsodium's check, or undefined on a machine that its binary is not made for. */
export const verifyWithSodium = loadSodium();

const verifyEd25519 = verifyWithSodium ?? verifyWithOpenSsl;

export function isSignatureValid(
  rawKey: Uint8Array,
  body: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (rawKey.length !== ED25519_KEY_BYTES) {
    // OpenSSL hashes the body itself; high and low S are the same signature to it.
    const key = keyOf(rawKey);
    return verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, signature);
  }
  return (
    verifyEd25519(signature, hash("sha256", body, "buffer"), rawKey) ||
    verifyEd25519(signature, body, rawKey)
  );
}

/** The key's raw bytes name it: no other key can stand under them. */
function keyOf(rawKey: Uint8Array): KeyObject {
  const name = Buffer.from(rawKey).toString("latin1");
  const known = keys.get(name);
  if (known !== undefined) return known;
  const der = Buffer.from(derOfPublicKey(rawKey));
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  if (keys.size >= KEPT_KEYS) keys.clear();
  keys.set(name, key);
  return key;
}

function loadSodium(): VerifyEd25519 | undefined {
  let check: (signature: Uint8Array, message: Uint8Array, rawKey: Uint8Array) => unknown;
  try {
    check = createRequire(import.meta.url)("sodium-native").crypto_sign_verify_detached;
  } catch {
    return undefined;
  }
  return (signature, message, rawKey) => {
    const verdict = check(signature, message, rawKey);
    // Neither true nor false is what it answers for memory that it cannot read.
    if (typeof verdict !== "boolean") throw new Error("libsodium did not judge a signature");
    return verdict;
  };
}
