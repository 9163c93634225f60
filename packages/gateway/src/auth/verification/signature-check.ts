/**
 * Checks one signature over one body in the calling thread.
 *
 * In: a raw public key (32 bytes of Ed25519, 33 of secp256k1), the body, a signature of 64 bytes.
 * An Ed25519 signature may cover the body's digest, as the documentation tells clients, or the body.
 *
 * Ed25519 has two implementations. On x86-64 libsodium takes half of OpenSSL's time, on 64-bit ARM
 * OpenSSL takes two thirds of libsodium's, so a thread measures both when it starts and uses the
 * faster. They accept the same signatures: the only ones on which they differ have an R of small
 * order, and `openSslCheck` refuses these as libsodium does.
 */

import {
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import { createRequire } from "node:module";
import { derOfPublicKey, hasSmallOrderR } from "@perpgate/protocol/core";
import { LRUCache } from "lru-cache";

export type Ed25519Check = (
  signature: Uint8Array,
  message: Uint8Array,
  rawKey: Uint8Array,
) => boolean;

const ED25519_KEY_BYTES = 32;
const KEPT_KEYS = 50_000;
/** Checks of each implementation before those that are timed: OpenSSL's has more code to be compiled. */
const WARM_UP_CHECKS = 40;
/** The fastest of them counts. */
const TIMED_CHECKS = 20;

export class SignatureCheck {
  private readonly keys = new KeyObjects();
  private readonly ed25519: Ed25519Check;

  constructor() {
    const openSsl = openSslCheck(this.keys);
    const sodium = sodiumCheck();
    this.ed25519 = sodium === undefined ? openSsl : fasterOf(openSsl, sodium);
  }

  isValid(rawKey: Uint8Array, body: Uint8Array, signature: Uint8Array): boolean {
    if (rawKey.length !== ED25519_KEY_BYTES) {
      // OpenSSL hashes the body and accepts high and low S.
      const key = this.keys.of(rawKey);
      return verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, signature);
    }
    return (
      this.ed25519(signature, hash("sha256", body, "buffer"), rawKey) ||
      this.ed25519(signature, body, rawKey)
    );
  }
}

/** OpenSSL's key objects, cached by the raw bytes of the key. */
export class KeyObjects {
  private readonly kept = new LRUCache<string, KeyObject>({
    // `max` would reserve room for all of them.
    maxSize: KEPT_KEYS,
    sizeCalculation: () => 1,
  });

  of(rawKey: Uint8Array): KeyObject {
    const name = Buffer.from(rawKey).toString("latin1");
    const known = this.kept.get(name);
    if (known !== undefined) return known;
    const der = Buffer.from(derOfPublicKey(rawKey));
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    this.kept.set(name, key);
    return key;
  }
}

export function openSslCheck(keys: KeyObjects): Ed25519Check {
  return (signature, message, rawKey) =>
    verify(null, message, keys.of(rawKey), signature) && !hasSmallOrderR(signature);
}

/** libsodium's check, or undefined on a machine for which it has no binary. */
export function sodiumCheck(): Ed25519Check | undefined {
  let check: (signature: Uint8Array, message: Uint8Array, rawKey: Uint8Array) => unknown;
  try {
    check = createRequire(import.meta.url)("sodium-native").crypto_sign_verify_detached;
  } catch {
    return undefined;
  }
  return (signature, message, rawKey) => {
    const verdict = check(signature, message, rawKey);
    // The binding returns undefined for memory that it cannot read.
    if (typeof verdict !== "boolean") throw new Error("libsodium returned no verdict");
    return verdict;
  };
}

/** Timed alternately, so that a slow moment of the machine affects both. */
function fasterOf(one: Ed25519Check, other: Ed25519Check): Ed25519Check {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const rawKey = publicKey.export({ format: "der", type: "spki" }).subarray(-ED25519_KEY_BYTES);
  const message = Buffer.alloc(ED25519_KEY_BYTES, 1);
  const signature = sign(null, message, privateKey);
  const timeOf = (check: Ed25519Check): number => {
    const startMs = performance.now();
    check(signature, message, rawKey);
    return performance.now() - startMs;
  };
  let oneMs = Number.POSITIVE_INFINITY;
  let otherMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < WARM_UP_CHECKS; i++) {
    timeOf(one);
    timeOf(other);
  }
  for (let i = 0; i < TIMED_CHECKS; i++) {
    oneMs = Math.min(oneMs, timeOf(one));
    otherMs = Math.min(otherMs, timeOf(other));
  }
  return oneMs <= otherMs ? one : other;
}
