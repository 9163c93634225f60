/**
 * EIP-191, version 0x45 (personal messages): the hash that a wallet signs, and the recovery of the
 * signer. Uses noble directly: loading viem takes half a second.
 */

import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexFromBytes } from "@perpgate/protocol/core";

export interface KeySignature {
  /** r and s, 32 bytes each. */
  readonly compact: Uint8Array;
  readonly yParity: 0 | 1;
}

export function messageHash(text: string): Uint8Array {
  const message = Buffer.from(text, "utf8");
  const prefix = `\x19Ethereum Signed Message:\n${message.length}`;
  return keccak_256(Buffer.concat([Buffer.from(prefix, "latin1"), message]));
}

/** The signer's address in lower case; undefined if the signature is invalid. */
export function recoverSigner(
  hash: Uint8Array,
  { compact, yParity }: KeySignature,
): string | undefined {
  try {
    const signature = secp256k1.Signature.fromBytes(compact).addRecoveryBit(yParity);
    const publicKey = signature.recoverPublicKey(hash).toBytes(false).subarray(1);
    return `0x${hexFromBytes(keccak_256(publicKey).subarray(-20))}`;
  } catch {
    // No point has this r, or r or s is out of range.
    return undefined;
  }
}
