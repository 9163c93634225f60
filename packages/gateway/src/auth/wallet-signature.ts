/**
 * Whether a wallet signed a sign-in message: by its own key, or as a contract.
 *
 * A wallet with a key signs as EIP-191 says: 65 bytes with v 0, 1, 27 or 28, or the 64 bytes of
 * EIP-2098, in hex, `0x` optional. A high S is taken: EIP-2 forbids it in transactions only, viem
 * and the ecrecover precompile take it, and a second spelling of a signature gains nothing where the
 * nonce works once. What does not recover to the message's address may still be a contract's word
 * (EIP-1271, EIP-6492), which only its chain can tell; without an RPC for it the answer is no.
 */

import { bytesFromHex, hexFromBytes, Refusal } from "@perpgate/protocol";
import type { ContractWallets } from "./contract-wallets.js";
import { addressThatSigned, type KeySignature, messageHash } from "./eip191.js";
import type { SiweMessage } from "./siwe-message.js";

/** A contract's signature may hold many owners' and, before deployment, the way to deploy it. */
const MAX_SIGNATURE_BYTES = 16_384;

/** Returns the signature's bytes once they are known to be the wallet's; refuses otherwise. */
export async function checkWalletSignature(
  message: SiweMessage,
  signature: string,
  contracts: ContractWallets,
): Promise<Uint8Array> {
  const bytes = bytesFromHex(signature);
  if (bytes === undefined || bytes.length === 0 || bytes.length > MAX_SIGNATURE_BYTES) {
    throw invalidWalletSignature(message, "it is not hex of a signature's length");
  }
  const hash = messageHash(message.text);
  const keySignature = keySignatureOf(bytes);
  if (keySignature !== undefined && addressThatSigned(hash, keySignature) === lower(message)) {
    return bytes;
  }
  if (!contracts.serves(message.chainId)) throw withoutChain(message, keySignature !== undefined);
  const [hashHex, signatureHex] = [hash, bytes].map(hexFromBytes);
  if (await contracts.isSignedByContract(message, `0x${hashHex}`, `0x${signatureHex}`)) {
    return bytes;
  }
  throw invalidWalletSignature(message, "neither the key nor a contract of that address signed it");
}

function lower({ address }: SiweMessage): string {
  return address.toLowerCase();
}

/** The two forms of a key's signature, or undefined for what only a contract could read. */
export function keySignatureOf(bytes: Uint8Array): KeySignature | undefined {
  const compact = bytes.slice(0, 64);
  if (bytes.length === 64) {
    // EIP-2098 keeps the parity in the top bit of s, which a low S leaves free.
    const yParity = (compact[32] ?? 0) >= 0x80 ? 1 : 0;
    compact[32] = (compact[32] ?? 0) & 0x7f;
    return { compact, yParity };
  }
  const v = bytes[64];
  if (bytes.length !== 65 || v === undefined || ![0, 1, 27, 28].includes(v)) return undefined;
  return { compact, yParity: v === 1 || v === 28 ? 1 : 0 };
}

function withoutChain(message: SiweMessage, mayBeKeySignature: boolean): Refusal {
  const { chainId } = message;
  if (!mayBeKeySignature) {
    return new Refusal("chain_rpc_not_configured", { chainId }, { field: "signature" });
  }
  return invalidWalletSignature(
    message,
    `another key signed it; contract wallets on chain ${chainId} are not checked here`,
  );
}

function invalidWalletSignature({ address }: SiweMessage, problem: string): Refusal {
  return new Refusal(
    "invalid_signature",
    { kind: "Ethereum", fingerprint: address },
    { field: "signature", details: { problem, kind: "ethereum", address } },
  );
}
