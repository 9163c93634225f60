/**
 * Session keys with everything known about them: hex in, a key that signatures can be checked
 * with out, or a refusal that says what is wrong with it.
 *
 * OpenSSL takes Ed25519 keys under which anyone can sign (small order) and encodings that are not
 * the only one of their point, so the point is judged here first. A secp256k1 key has three
 * spellings; its raw bytes are always the compressed one, so that one key has one fingerprint.
 */

import { createPublicKey, hash, type KeyObject } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hexFromBytes, type KeyKind, parseSessionKey, Refusal } from "@perpgate/protocol";

export interface SessionKey {
  readonly kind: KeyKind;
  /** 32 bytes of Ed25519, or 33 of secp256k1. */
  readonly raw: Uint8Array;
  /** SHA-256 of the raw bytes, lower-case hex: how log and engine name the key. */
  readonly fingerprint: string;
  /** For `node:crypto`; making one costs more than a lookup, so keys are kept. */
  readonly keyObject: KeyObject;
}

/** Reads a key that a client sent; `field` is where it stood. */
export function readSessionKey(text: string, field: string): SessionKey {
  const parsed = parseSessionKey(text);
  if (parsed === undefined) throw refuse("The session key has the wrong length", field);
  const { kind, bytes } = parsed;
  return kind === "ed25519" ? ed25519Key(bytes, field) : secp256k1Key(bytes, field);
}

/** A key from its raw bytes, as the log keeps them. */
export function sessionKeyOfRaw(raw: Uint8Array): SessionKey {
  return readSessionKey(hexFromBytes(raw), "sessionKey");
}

function ed25519Key(bytes: Uint8Array, field: string): SessionKey {
  let isSmallOrder: boolean;
  try {
    // Strict RFC 8032 decoding: y below the field's prime, no negative zero, on the curve.
    isSmallOrder = ed25519.Point.fromBytes(bytes, false).isSmallOrder();
  } catch {
    throw refuse("The session key is not a canonical Ed25519 point", field);
  }
  if (isSmallOrder) throw refuse("The session key is an Ed25519 point of small order", field);
  const x = Buffer.from(bytes).toString("base64url");
  const keyObject = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
  return { kind: "ed25519", raw: bytes, fingerprint: hash("sha256", bytes, "hex"), keyObject };
}

function secp256k1Key(bytes: Uint8Array, field: string): SessionKey {
  const encoded = bytes.length === 64 ? Buffer.concat([UNCOMPRESSED, bytes]) : bytes;
  let raw: Uint8Array;
  let affine: Uint8Array;
  try {
    const point = secp256k1.Point.fromBytes(encoded);
    point.assertValidity();
    raw = point.toBytes(true);
    affine = point.toBytes(false);
  } catch {
    throw refuse("The session key is not a point of secp256k1", field);
  }
  const x = Buffer.from(affine.subarray(1, 33)).toString("base64url");
  const y = Buffer.from(affine.subarray(33)).toString("base64url");
  const keyObject = createPublicKey({ format: "jwk", key: { kty: "EC", crv: "secp256k1", x, y } });
  return { kind: "secp256k1", raw, fingerprint: hash("sha256", raw, "hex"), keyObject };
}

const UNCOMPRESSED = Uint8Array.of(4);

function refuse(problem: string, field: string): Refusal {
  return new Refusal("invalid_session_key", { problem }, { field });
}
