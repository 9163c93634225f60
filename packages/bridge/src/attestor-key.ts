/**
 * Attestors' Ed25519 keys. A private key is a 32-byte seed in hex in a separate file, so that the
 * configuration contains no secret; a public key is its 32 bytes in hex.
 */

import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { bytesFromHex, derOfPublicKey, hexFromBytes } from "@perpgate/protocol/core";

/** DER prefix of the 32 bytes (RFC 8410). */
const PRIVATE_KEY_HEADER = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_KEY_BYTES = 32;
/** Permission bits of group and others. */
const NOT_OWNER = 0o077;

export function privateKeyFromSeed(hex: string): KeyObject {
  const key = Buffer.concat([PRIVATE_KEY_HEADER, thirtyTwoBytes(hex, "an attestor's private key")]);
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

export function publicKeyFromHex(hex: string): KeyObject {
  const key = Buffer.from(derOfPublicKey(thirtyTwoBytes(hex, "an attestor's public key")));
  return createPublicKey({ key, format: "der", type: "spki" });
}

/** The public key in hex, of a private or public key. */
export function publicKeyHex(key: KeyObject): string {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const der = publicKey.export({ format: "der", type: "spki" });
  return hexFromBytes(der.subarray(-PUBLIC_KEY_BYTES));
}

function thirtyTwoBytes(hex: string, what: string): Uint8Array {
  const bytes = bytesFromHex(hex);
  // The text is not in the message: it may be a secret.
  if (bytes?.length !== 32) throw new RangeError(`${what} is 64 hex digits`);
  return bytes;
}

/** The text of a key file. @throws if others than the owner may read it. */
export function readKeyFile(path: string): string {
  const file = openSync(path, "r");
  try {
    const { mode } = fstatSync(file);
    if ((mode & NOT_OWNER) !== 0) {
      const found = (mode & 0o777).toString(8).padStart(3, "0");
      throw new Error(`readable by others (mode ${found}): create a new key, or chmod 600`);
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

/** A new key: the text for its file, and its public key. */
export function newAttestorKey(): { readonly secret: string; readonly publicKey: string } {
  const secret = randomBytes(32).toString("hex");
  return { secret, publicKey: publicKeyHex(privateKeyFromSeed(secret)) };
}
