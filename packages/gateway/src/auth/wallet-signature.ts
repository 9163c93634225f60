/**
 * Whether a wallet signed a sign-in message: with its key, or as a contract.
 *
 * A key signs as in EIP-191: 65 bytes with v 0, 1, 27 or 28, or the 64 bytes of EIP-2098, in hex, `0x`
 * optional. A high S is accepted: EIP-2 forbids it in transactions only, viem and the ecrecover precompile
 * accept it, and a second encoding of a signature is useless where a nonce works once. A signature that
 * does not recover to the message's address may be a contract's (EIP-1271, EIP-6492), which only its chain
 * can confirm; without an RPC for the chain it is refused.
 */

import { setImmediate } from "node:timers/promises";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { ApiError, bytesFromHex, hexFromBytes } from "@perpgate/protocol/core";
import { ChainUnavailable, type ContractClaim, type ContractWallets } from "./contract-wallets.js";
import { grammarFault } from "./siwe-grammar.js";
import { refuseLine, type SiweMessage } from "./siwe-message.js";

/** A contract's signature may contain those of many owners and, before deployment, its deployment. */
const MAX_SIGNATURE_BYTES = 16_384;
/** `0x` and two digits a byte. */
const MAX_SIGNATURE_CHARACTERS = 2 + 2 * MAX_SIGNATURE_BYTES;

/** Runs a contract check within the client's limits. */
export type ContractGate = <T>(check: () => Promise<T>) => Promise<T>;

/** The signature's bytes; throws `invalid_signature` if they cannot be a signature. */
export function readWalletSignature(message: SiweMessage, signature: string): Uint8Array {
  const isShort = signature.length <= MAX_SIGNATURE_CHARACTERS;
  const bytes = isShort ? bytesFromHex(signature) : undefined;
  if (bytes === undefined || bytes.length === 0) {
    throw invalidWalletSignature(message, "it is not hex of a signature's length");
  }
  return bytes;
}

/**
 * Resolves if the grammar accepts the message and its wallet signed it: with the chain id of the contract
 * that confirmed it, or undefined for a key. The grammar takes 1 ms, recovering the signer 2 to 3: each has a
 * turn of the event loop.
 */
export async function proveWalletSignature(
  message: SiweMessage,
  signature: Uint8Array,
  contracts: ContractWallets,
  gate: ContractGate,
): Promise<number | undefined> {
  const fault = grammarFault(message);
  if (fault !== undefined) throw refuseLine(fault);
  await setImmediate();
  const { address, chainId } = message;
  const hash = messageHash(message.text);
  const keySignature = keySignatureOf(signature);
  if (keySignature !== undefined) {
    if (recoverSigner(hash, keySignature) === address.toLowerCase()) return undefined;
  }
  if (!contracts.servesChain(chainId)) throw withoutChain(message, keySignature !== undefined);
  const [hashHex, signatureHex] = [hash, signature].map(hexFromBytes);
  const claim = { chainId, address, hash: `0x${hashHex}`, signature: `0x${signatureHex}` } as const;
  if (await gate(() => isSignedByContract(contracts, claim))) return chainId;
  throw invalidWalletSignature(message, "neither the key nor a contract of that address signed it");
}

async function isSignedByContract(
  contracts: ContractWallets,
  claim: ContractClaim,
): Promise<boolean> {
  try {
    return await contracts.isSignedByContract(claim);
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new ApiError("not_ready", { reason: error.message });
  }
}

/** Parses the two encodings of a key's signature; undefined for any other, which may be a contract's. */
export function keySignatureOf(bytes: Uint8Array): KeySignature | undefined {
  const compact = bytes.slice(0, 64);
  if (bytes.length === 64) {
    // EIP-2098 stores the parity in the top bit of s, which is 0 in a low S.
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

/**
 * EIP-191, version 0x45 (personal messages): the hash that a wallet signs, and the recovery of the
 * signer. Uses noble directly: loading viem takes half a second.
 */
interface KeySignature {
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
