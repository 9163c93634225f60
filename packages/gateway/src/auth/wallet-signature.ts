/**
 * Whether a wallet signed a sign-in message: by its own key, or as a contract.
 *
 * A wallet with a key signs as EIP-191 says: 65 bytes with v 0, 1, 27 or 28, or the 64 bytes of
 * EIP-2098, in hex, `0x` optional. A high S is taken: EIP-2 forbids it in transactions only, viem
 * and the ecrecover precompile take it, and a second spelling of a signature gains nothing where the
 * nonce works once. What does not recover to the message's address may still be a contract's word
 * (EIP-1271, EIP-6492), which only its chain can tell; without an RPC for it the answer is no.
 */

import { ApiError, bytesFromHex, hexFromBytes } from "@perpgate/protocol";
import type { KeySignature } from "./eip191.js";
import type { SignInProofs } from "./proofs/sign-in-proofs.js";
import { refuseLine, type SiweMessage } from "./siwe-message.js";

/** A contract's signature may hold many owners' and, before deployment, the way to deploy it. */
const MAX_SIGNATURE_BYTES = 16_384;
/** `0x` and two digits a byte. */
const MAX_SIGNATURE_CHARACTERS = 2 + 2 * MAX_SIGNATURE_BYTES;

/** Runs a contract check within the bounds of the client that asked for it. */
export type ContractGate = <T>(check: () => Promise<T>) => Promise<T>;

/** The signature's bytes; refuses what cannot be a signature. */
export function readWalletSignature(message: SiweMessage, signature: string): Uint8Array {
  const isShort = signature.length <= MAX_SIGNATURE_CHARACTERS;
  const bytes = isShort ? bytesFromHex(signature) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw invalidWalletSignature(message, "it is not hex of a signature's length");
  }
  return bytes;
}

/** Resolves once the message is known to be one, and the signature to be its wallet's. */
export async function proveWalletSignature(
  message: SiweMessage,
  signature: Uint8Array,
  proofs: SignInProofs,
  gate: ContractGate,
): Promise<void> {
  const proof = await proofs.prove({ kind: "message", message, signature });
  if (proof.kind === "message") throw refuseLine(proof.fault);
  if (proof.kind !== "signer") throw new Error(`a message was answered by "${proof.kind}"`);
  if (proof.signer === message.address.toLowerCase()) return;
  const { address, chainId } = message;
  if (!proofs.servesChain(chainId)) {
    throw withoutChain(message, keySignatureOf(signature) !== undefined);
  }
  const [hashHex, signatureHex] = [proof.hash, signature].map(hexFromBytes);
  const claim = { chainId, address, hash: `0x${hashHex}`, signature: `0x${signatureHex}` } as const;
  const answer = await gate(() => proofs.prove({ kind: "contract", claim }));
  if (answer.kind === "unavailable") throw new ApiError("not_ready", { reason: answer.reason });
  if (answer.kind === "contract" && answer.isSigned) return;
  throw invalidWalletSignature(message, "neither the key nor a contract of that address signed it");
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

function withoutChain(message: SiweMessage, mayBeKeySignature: boolean): ApiError {
  const { chainId } = message;
  if (!mayBeKeySignature) {
    return new ApiError("chain_rpc_not_configured", { chainId }, { field: "signature" });
  }
  return invalidWalletSignature(
    message,
    `another key signed it; contract wallets on chain ${chainId} are not checked here`,
  );
}

function invalidWalletSignature({ address }: SiweMessage, problem: string): ApiError {
  return new ApiError(
    "invalid_signature",
    { kind: "Ethereum", fingerprint: address },
    { field: "signature", details: { problem, kind: "ethereum", address } },
  );
}
