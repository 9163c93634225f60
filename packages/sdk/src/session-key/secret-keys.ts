/** Session keys whose secret is bytes in memory, for both curves. */

import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { SessionKeyKind } from "@perpgate/protocol";
import { bytesFromHex, hexFromBytes } from "@perpgate/protocol/core";

/** Signs for a session. May be your own implementation, for instance of a hardware module. */
export interface SessionKey {
  readonly kind: SessionKeyKind;
  /** Hex, without `0x`: 32 bytes for Ed25519, 33 for secp256k1. */
  readonly publicKey: string;
  /** The signature over SHA-256 of the bytes: 64 bytes, for secp256k1 r and s. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  /** The secret as hex; absent if it cannot be read. */
  readonly secret?: string;
  /** The platform's handle of the secret, which IndexedDB can store. */
  readonly handle?: object;
}

const SECRET_BYTES = 32;

export function newEd25519Key(): SessionKey {
  return ed25519Key(ed25519.utils.randomSecretKey());
}

export function newSecp256k1Key(): SessionKey {
  return secp256k1Key(secp256k1.utils.randomSecretKey());
}

/** @throws RangeError if the text is not a secret of that kind. */
export function secretKeyOf(kind: SessionKeyKind, hex: string): SessionKey {
  const secret = bytesFromHex(hex);
  if (secret?.length !== SECRET_BYTES) {
    throw new RangeError("a session key's secret is 32 bytes of hex");
  }
  if (kind === "ed25519") return ed25519Key(secret);
  if (!secp256k1.utils.isValidSecretKey(secret)) {
    throw new RangeError("the secret is not a valid secp256k1 scalar");
  }
  return secp256k1Key(secret);
}

function ed25519Key(secret: Uint8Array): SessionKey {
  return {
    kind: "ed25519",
    publicKey: hexFromBytes(ed25519.getPublicKey(secret)),
    sign: async (bytes) => ed25519.sign(sha256(bytes), secret),
    secret: hexFromBytes(secret),
  };
}

function secp256k1Key(secret: Uint8Array): SessionKey {
  return {
    kind: "secp256k1",
    publicKey: hexFromBytes(secp256k1.getPublicKey(secret, true)),
    sign: async (bytes) => secp256k1.sign(sha256(bytes), secret, { prehash: false }),
    secret: hexFromBytes(secret),
  };
}
