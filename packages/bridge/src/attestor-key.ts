/**
 * Attestors' Ed25519 keys. A private key is a 32-byte seed in hex, kept in a file of its own so
 * that a configuration can be shown to anyone; a public key is its 32 bytes in hex.
 */

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { bytesFromHex, derOfPublicKey, hexFromBytes } from "@perpgate/protocol";

/** What DER puts before the 32 bytes (RFC 8410). */
const PRIVATE_KEY_HEADER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_KEY_BYTES = 32;

export function privateKeyFromSeed(hex: string): KeyObject {
  const key = Buffer.concat([PRIVATE_KEY_HEADER, thirtyTwoBytes(hex, "an attestor's private key")]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

export function publicKeyFromHex(hex: string): KeyObject {
  const key = Buffer.from(derOfPublicKey(thirtyTwoBytes(hex, "an attestor's public key")));
  return createPublicKey({ key, format: "der", type: "spki" });
}

/** The public key's hex, of either half of a pair. */
export function publicKeyHex(key: KeyObject): string {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const der = publicKey.export({ format: "der", type: "spki" });
  return hexFromBytes(der.subarray(-PUBLIC_KEY_BYTES));
}

function thirtyTwoBytes(hex: string, what: string): Uint8Array {
  const bytes = bytesFromHex(hex);
  // The text itself is not told: it may be a secret.
  if (bytes?.length !== 32) throw new RangeError(`${what} is 64 hex digits`);
  return bytes;
}
