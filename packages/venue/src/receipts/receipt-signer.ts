/**
 * Signs receipts with one Ed25519 key. On x86-64 libsodium does, in half of OpenSSL's time; on 64-bit ARM
 * OpenSSL is faster. Both make the same signature.
 */
import { createRequire } from "node:module";
import { ed25519Key, signWith } from "./log-key.js";

type Sign = (message: Uint8Array) => Uint8Array;

/** What signs, and what every receipt of the key ends with. */
export interface ReceiptSigner {
  readonly publicKey: Uint8Array;
  readonly certificate: Uint8Array;
  readonly sign: Sign;
}

const SIGNATURE_BYTES = 64;

const signerOf: (seed: Uint8Array) => Sign =
  process.arch === "x64" ? sodiumSigner() : openSslSigner;

export function receiptSigner(
  seed: Uint8Array,
  certify: (publicKey: Uint8Array) => Uint8Array,
): ReceiptSigner {
  const { publicKey } = ed25519Key(seed);
  return { publicKey, certificate: certify(publicKey), sign: signerOf(seed) };
}

export function openSslSigner(seed: Uint8Array): Sign {
  const { privateKey } = ed25519Key(seed);
  return (message) => signWith(privateKey, message);
}

/** libsodium's binary is loaded only where it is used. */
export function sodiumSigner(): (seed: Uint8Array) => Sign {
  const sign: (signature: Uint8Array, message: Uint8Array, secretKey: Uint8Array) => void =
    createRequire(import.meta.url)("sodium-native").crypto_sign_detached;
  return (seed) => {
    const secretKey = Buffer.concat([seed, ed25519Key(seed).publicKey]);
    return (message) => {
      const signature = Buffer.allocUnsafe(SIGNATURE_BYTES);
      sign(signature, message, secretKey);
      return signature;
    };
  };
}
