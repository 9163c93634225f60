/** Verifies Ed25519 signatures with the platform's WebCrypto, or without it where it lacks the algorithm. */

import { ed25519 } from "@noble/curves/ed25519.js";
import { hasSmallOrderR } from "@perpgate/protocol/core";

const ED25519 = { name: "Ed25519" };

/**
 * Whether a signature is valid, by RFC 8032, and its R is not of small order: verifiers disagree about those.
 *
 * @example
 * const isValid = await verifyEd25519(new Uint8Array(32), new Uint8Array(0), new Uint8Array(64));
 * console.log(isValid);
 */
export async function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (hasSmallOrderR(signature)) return false;
  const { crypto }: { readonly crypto?: Partial<Crypto> } = globalThis;
  try {
    if (crypto?.subtle !== undefined) {
      const raw = Uint8Array.from(publicKey);
      const key = await crypto.subtle.importKey("raw", raw, ED25519, false, ["verify"]);
      const bytes = [Uint8Array.from(signature), Uint8Array.from(message)] as const;
      return await crypto.subtle.verify(ED25519, key, ...bytes);
    }
  } catch {
    // The platform does not know the algorithm, or refuses the key: the check below decides.
  }
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}
