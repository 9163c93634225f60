/**
 * Checks the signatures of session keys in the calling thread.
 *
 * An Ed25519 signature may cover the body's digest, as the documentation tells clients, or the body;
 * one of secp256k1 covers the digest. OpenSSL checks secp256k1, and Ed25519 except on x86-64, where
 * libsodium takes half of its time; on 64-bit ARM OpenSSL takes two thirds of libsodium's. Both accept the
 * same Ed25519 signatures: the only ones on which they differ have an R of small order, and
 * `openSslCheck` refuses these as libsodium does.
 */

import { hash, verify } from "node:crypto";
import { createRequire } from "node:module";
import { hasSmallOrderR } from "@perpgate/protocol/core";
import type { SessionPublicKey } from "./session-key.js";

type Ed25519Check = (signature: Uint8Array, message: Uint8Array, key: SessionPublicKey) => boolean;

const isEd25519Signature = process.arch === "x64" ? sodiumCheck() : openSslCheck;

/**
 * SHA-256 of the body: what most signatures cover. Through text: with "buffer" Node makes memory outside the
 * heap for each hash, which takes twice as long.
 */
export function digestOf(body: Uint8Array): Uint8Array {
  return Buffer.from(hash("sha256", body, "binary"), "binary");
}

export class SignatureCheck {
  /** Signatures checked so far. */
  count = 0;

  /** Whether the key made the signature (64 bytes) over the body. */
  isValid(key: SessionPublicKey, body: Uint8Array, signature: Uint8Array): boolean {
    this.count++;
    if (key.kind === "secp256k1") {
      // OpenSSL hashes the body and accepts high and low S.
      return verify("sha256", body, { key: key.keyObject, dsaEncoding: "ieee-p1363" }, signature);
    }
    return (
      isEd25519Signature(signature, digestOf(body), key) || isEd25519Signature(signature, body, key)
    );
  }
}

export function openSslCheck(
  signature: Uint8Array,
  message: Uint8Array,
  { keyObject }: SessionPublicKey,
): boolean {
  return verify(null, message, keyObject, signature) && !hasSmallOrderR(signature);
}

/** libsodium's binary is loaded only where it is used. */
export function sodiumCheck(): Ed25519Check {
  const check: (signature: Uint8Array, message: Uint8Array, rawKey: Uint8Array) => unknown =
    createRequire(import.meta.url)("sodium-native").crypto_sign_verify_detached;
  return (signature, message, { raw }) => {
    const verdict = check(signature, message, raw);
    // The binding returns undefined for memory that it cannot read.
    if (typeof verdict !== "boolean") throw new Error("libsodium returned no verdict");
    return verdict;
  };
}
