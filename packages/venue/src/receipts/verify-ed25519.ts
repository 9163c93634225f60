/** Verifies Ed25519 signatures with raw public keys. */
import { createPublicKey, verify } from "node:crypto";
import { hasSmallOrderR } from "@perpgate/protocol/core";

/** DER of an Ed25519 public key in SPKI, before its 32 bytes. */
const SPKI = Buffer.from("302a300506032b6570032100", "hex");

export function verifyEd25519Now(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = createPublicKey({
    key: Buffer.concat([SPKI, publicKey]),
    format: "der",
    type: "spki",
  });
  return verify(null, message, key, signature) && !hasSmallOrderR(signature);
}
