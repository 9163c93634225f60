/**
 * Session keys, parsed from hex.
 *
 * `sign-in.ts` checks the point. A secp256k1 key has three encodings; `raw`
 * is always the compressed one, so that one key has one fingerprint.
 */

import { createPublicKey, hash, type KeyObject } from "node:crypto";
import {
  ApiError,
  compressedKey,
  derOfPublicKey,
  type KeyKind,
  parseSessionKey,
  type SessionKeyBytes,
} from "@perpgate/protocol/core";

export interface SessionPublicKey {
  readonly kind: KeyKind;
  /** 32 bytes of Ed25519, or 33 of secp256k1. */
  readonly raw: Uint8Array;
  /** SHA-256 of `raw` in lower-case hex: the key's id in log and engine. */
  readonly fingerprint: string;
  /** For `node:crypto`; created when first read. */
  readonly keyObject: KeyObject;
}

/** Parses a key that a client sent in `field`; its point is not checked yet. */
export function readKeyBytes(text: string, field: string): SessionKeyBytes {
  const parsed = parseSessionKey(text);
  if (parsed === undefined) throw refuseKey("The session key has the wrong length", field);
  return parsed;
}

/** Does not check the point. */
export function keyOfBytes(key: SessionKeyBytes): SessionPublicKey {
  return new LazyKey(key.kind, compressedKey(key));
}

/** A key from its raw bytes in the log, which holds only checked keys. */
export function sessionKeyOfRaw(raw: Uint8Array): SessionPublicKey {
  return new LazyKey(raw.length === ED25519_BYTES ? "ed25519" : "secp256k1", raw);
}

export function refuseKey(problem: string, field: string): ApiError {
  return new ApiError("invalid_session_key", { problem }, { field });
}

class LazyKey implements SessionPublicKey {
  readonly fingerprint: string;
  private object: KeyObject | undefined;

  constructor(
    readonly kind: KeyKind,
    readonly raw: Uint8Array,
  ) {
    this.fingerprint = hash("sha256", raw, "hex");
  }

  get keyObject(): KeyObject {
    this.object ??= createPublicKey({
      key: Buffer.from(derOfPublicKey(this.raw)),
      format: "der",
      type: "spki",
    });
    return this.object;
  }
}

const ED25519_BYTES = 32;
