/**
 * Whether a session key's bytes encode a valid point.
 *
 * OpenSSL accepts Ed25519 points of small order, for which anyone can forge signatures, and non-canonical
 * encodings, so the point is checked once before a key is used. This takes 0.03 to 0.3 ms.
 */

import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { SessionKeyBytes } from "@perpgate/protocol/core";

const COORDINATES_BYTES = 64;
const UNCOMPRESSED = Uint8Array.of(4);

/** What is wrong with the encoded point; undefined if it is valid. */
export function keyProblem({ kind, bytes }: SessionKeyBytes): string | undefined {
  return kind === "ed25519" ? ed25519Problem(bytes) : secp256k1Problem(bytes);
}

function ed25519Problem(bytes: Uint8Array): string | undefined {
  try {
    // Strict RFC 8032 decoding: y below the field's prime, no negative zero, on the curve.
    const isSmallOrder = ed25519.Point.fromBytes(bytes, false).isSmallOrder();
    return isSmallOrder ? "The session key is an Ed25519 point of small order" : undefined;
  } catch {
    return "The session key is not a canonical Ed25519 point";
  }
}

function secp256k1Problem(bytes: Uint8Array): string | undefined {
  const isBare = bytes.length === COORDINATES_BYTES;
  try {
    const encoded = isBare ? Buffer.concat([UNCOMPRESSED, bytes]) : bytes;
    secp256k1.Point.fromBytes(encoded).assertValidity();
    return undefined;
  } catch {
    return "The session key is not a point of secp256k1";
  }
}
