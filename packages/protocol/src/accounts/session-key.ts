/**
 * Session keys: the bytes and, by their number, the kind.
 *
 * Only the shape is checked here. The caller must check that the bytes are a valid point before it
 * trusts the key with an order.
 */

import { bytesFromHex } from "../text/hex.js";

export type KeyKind = "ed25519" | "secp256k1";

export interface SessionKeyBytes {
  readonly kind: KeyKind;
  readonly bytes: Uint8Array;
}

/** 32, 33, 64 or 65 bytes of hex; the same rule as `parseSessionKey`, for schemas. */
export const SESSION_KEY_PATTERN =
  "^(0[xX])?([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{128}|[0-9a-fA-F]{130})$";

/** `0x` and two digits for each of 65 bytes. */
const MAX_KEY_CHARACTERS = 132;

const KIND_BY_LENGTH: ReadonlyMap<number, KeyKind> = new Map([
  [32, "ed25519"],
  [33, "secp256k1"],
  [64, "secp256k1"],
  [65, "secp256k1"],
]);

export function parseSessionKey(text: string): SessionKeyBytes | undefined {
  const bytes = text.length > MAX_KEY_CHARACTERS ? undefined : bytesFromHex(text);
  if (bytes === undefined) return undefined;
  const kind = KIND_BY_LENGTH.get(bytes.length);
  return kind === undefined ? undefined : { kind, bytes };
}

/** DER of a public key up to its raw bytes. */
const DER_PREFIX: Readonly<Record<KeyKind, readonly number[]>> = {
  // RFC 8410
  ed25519: [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00],
  // RFC 5480 with the curve of SEC 2
  secp256k1: [
    0x30, 0x36, 0x30, 0x10, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b,
    0x81, 0x04, 0x00, 0x0a, 0x03, 0x22, 0x00,
  ],
};

/**
 * A key as `spki` in DER, which OpenSSL and WebCrypto read, from its raw bytes: 32 of Ed25519, or 33
 * (compressed) of secp256k1.
 */
export function derOfPublicKey(raw: Uint8Array): Uint8Array {
  const prefix = DER_PREFIX[raw.length === 32 ? "ed25519" : "secp256k1"];
  const der = new Uint8Array(prefix.length + raw.length);
  der.set(prefix);
  der.set(raw, prefix.length);
  return der;
}

/** A secp256k1 key in its compressed encoding: the parity of y, then x. Other keys unchanged. */
export function compressedKey({ kind, bytes }: SessionKeyBytes): Uint8Array {
  if (kind === "ed25519" || bytes.length === COMPRESSED_BYTES) return bytes;
  const coordinates = bytes.subarray(-COORDINATES_BYTES);
  const raw = new Uint8Array(COMPRESSED_BYTES);
  raw[0] = 2 + ((coordinates[COORDINATES_BYTES - 1] ?? 0) & 1);
  raw.set(coordinates.subarray(0, COORDINATES_BYTES / 2), 1);
  return raw;
}

const COMPRESSED_BYTES = 33;
const COORDINATES_BYTES = 64;
