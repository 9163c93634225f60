/**
 * Order signatures: which bytes are signed, and how a signature is written down.
 *
 * A signature covers the exact bytes of the body: a body is never serialised again. Ed25519 signs the
 * body's SHA-256 digest or the body, secp256k1 the digest. The `X-Service-Sig` header is decoded to one
 * form per kind of key. Verification is not here.
 */

import { bytesFromHex, hexFromBytes, isHex, withoutHexPrefix } from "../text/hex.js";
import type { KeyKind } from "./session-key.js";

/** From this many hex digits on, text of hex digits alone is hex and not base64. */
const MIN_HEX_DIGITS = 128;
/** A DER signature of two 33-byte integers, the longest form there is. */
const MAX_SIGNATURE_BYTES = 72;
/** `0x` and two digits a byte: the longest spelling of the longest form. */
const MAX_HEADER_CHARACTERS = 2 + 2 * MAX_SIGNATURE_BYTES;
const SCALAR_BYTES = 32;

export function orderSigningBytes(body: string): Uint8Array {
  return new TextEncoder().encode(body);
}

/** The bytes of the header: hex from `MIN_HEX_DIGITS` on, otherwise base64 or base64url. */
export function decodeSignature(header: string): Uint8Array | undefined {
  if (header.length > MAX_HEADER_CHARACTERS) return undefined;
  const digits = withoutHexPrefix(header);
  if (digits.length >= MIN_HEX_DIGITS && isHex(digits)) return bytesFromHex(digits);
  return bytesFromBase64(header);
}

/** Base64 or base64url, padding optional; undefined for anything that is not exactly that. */
function bytesFromBase64(text: string): Uint8Array | undefined {
  const body = text.replace(/={1,2}$/, "");
  const padding = text.length - body.length;
  if (padding > 0 && text.length % 4 !== 0) return undefined;
  if (body.length % 4 === 1 || !/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)$/.test(body)) return undefined;
  const binary = atob(body.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** A signature as 64 bytes for its kind of key; undefined if it cannot be one. */
export function compactSignature(kind: KeyKind, signature: Uint8Array): Uint8Array | undefined {
  if (signature.length === 64) return signature;
  if (kind === "ed25519") return undefined;
  // The recovery byte adds nothing, because the session's key is known.
  if (signature.length === 65 && signature[0] !== 0x30) return signature.subarray(0, 64);
  return (
    compactFromDer(signature) ?? (signature.length === 65 ? signature.subarray(0, 64) : undefined)
  );
}

/** Strict DER: SEQUENCE of two minimal, positive INTEGERs and nothing after them. */
function compactFromDer(der: Uint8Array): Uint8Array | undefined {
  if (der.length < 8 || der.length > MAX_SIGNATURE_BYTES) return undefined;
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const r = readDerInteger(der, 2);
  if (r === undefined) return undefined;
  const s = readDerInteger(der, r.end);
  if (s === undefined || s.end !== der.length) return undefined;
  const compact = new Uint8Array(2 * SCALAR_BYTES);
  compact.set(r.magnitude, SCALAR_BYTES - r.magnitude.length);
  compact.set(s.magnitude, 2 * SCALAR_BYTES - s.magnitude.length);
  return compact;
}

function readDerInteger(
  der: Uint8Array,
  start: number,
): { readonly magnitude: Uint8Array; readonly end: number } | undefined {
  const length = der[start + 1];
  if (der[start] !== 0x02 || length === undefined || length === 0) return undefined;
  const end = start + 2 + length;
  if (end > der.length) return undefined;
  const content = der.subarray(start + 2, end);
  const [first = 0, second = 0] = content;
  if (first >= 0x80) return undefined;
  // A leading zero is there only to keep the sign bit clear; more would be a second spelling.
  if (first === 0 && length > 1 && second < 0x80) return undefined;
  const magnitude = first === 0 ? content.subarray(1) : content;
  return magnitude.length > SCALAR_BYTES ? undefined : { magnitude, end };
}

/** y of the points whose order divides 8, little-endian, without the sign bit of x. */
const SMALL_ORDER_Y: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);
const SIGN_BYTE = 31;
const SIGN_BIT = 0x80;

/** y from the field's prime 2^255 − 19 on, little-endian: a second encoding of a smaller one. */
const ABOVE_PRIME = /^(?:e[d-f]|f[0-9a-f])f{60}7f$/;

/** Whether R, the first half of an Ed25519 signature, is a point of small order. */
export function hasSmallOrderR(signature: Uint8Array): boolean {
  return SMALL_ORDER_Y.has(hexOfY(signature));
}

/**
 * Whether 32 bytes may be an Ed25519 public key: not a point of small order, under which anyone can sign,
 * and not a second encoding of another point. Whether they are a point at all is for the verification.
 */
export function isSafePublicKey(publicKey: Uint8Array): boolean {
  const y = hexOfY(publicKey);
  return !SMALL_ORDER_Y.has(y) && !ABOVE_PRIME.test(y);
}

function hexOfY(point: Uint8Array): string {
  // Not `slice`, which shares the memory if the bytes are a Buffer.
  const y = Uint8Array.from(point.subarray(0, SIGN_BYTE + 1));
  y[SIGN_BYTE] = (y[SIGN_BYTE] ?? 0) & ~SIGN_BIT;
  return hexFromBytes(y);
}

/**
 * What the session key signs to end another session, or all others: the request's method and path. These
 * requests have no body to sign, and the path names the session.
 */
export function endSessionText(id?: string): string {
  return `DELETE /v1/auth/sessions${id === undefined ? "" : `/${id}`}`;
}
