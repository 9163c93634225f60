/**
 * Checks a sign-in, in two steps. `checkSignIn` parses key, message and signature and applies the rules;
 * it is cheap and needs no cryptography. `proveSignIn` checks the key's point, the grammar and the
 * signature. Neither changes state: a refused sign-in does not use up its nonce. Whether
 * the nonce is unused is decided in the log, which orders concurrent sign-ins.
 */

import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { SignInBody } from "@perpgate/protocol";
import { ApiError, type SessionKeyBytes } from "@perpgate/protocol/core";
import type { ContractWallets } from "./contract-wallets.js";
import type { NonceIssuer } from "./nonce-issuer.js";
import { keyOfBytes, readKeyBytes, refuseKey, type SessionPublicKey } from "./session-key.js";
import { type SessionResource, sessionResourceOf } from "./session-resource.js";
import { readSiweMessage, type SiweMessage } from "./siwe-message.js";
import {
  type AllowedDomains,
  checkChain,
  checkDomain,
  checkIssuedAt,
  checkValidity,
  nonceForgottenAt,
  sessionEndOf,
} from "./siwe-rules.js";
import {
  type ContractGate,
  proveWalletSignature,
  readWalletSignature,
} from "./wallet-signature.js";

export interface SignInRules {
  readonly domains: AllowedDomains;
  /** Undefined: every chain. */
  readonly chainIds: ReadonlySet<number> | undefined;
  /** `issued`: only nonces of a gateway with the same nonce key. */
  readonly nonce: "any" | "issued";
  readonly requireKeyBinding: boolean;
  /** How long a session may last whose message binds its key and states its expiration. */
  readonly maxBoundSessionMs: number;
}

export interface SignInServices {
  readonly nonces: NonceIssuer;
  readonly contracts: ContractWallets;
  /** Random bytes of tokens; a sandbox gives seeded ones. */
  readonly random?: (bytes: number) => Uint8Array;
}

export interface CheckedSignIn {
  readonly message: SiweMessage;
  /** The address as 40 lower-case hex digits, as in the log. */
  readonly account: string;
  /** As encoded in the body; `proveSignIn` checks its point. */
  readonly keyBytes: SessionKeyBytes;
  readonly key: SessionPublicKey;
  /** Undefined: the message has no session resource. */
  readonly resource: SessionResource | undefined;
  readonly walletSignature: Uint8Array;
  readonly expiresAtMs: number;
  readonly nonceForgottenAtMs: number;
}

/** Everything but the proofs, cheapest first. */
export function checkSignIn(
  body: SignInBody,
  nowMs: number,
  rules: SignInRules,
  nonces: NonceIssuer,
): CheckedSignIn {
  const keyBytes = readKeyBytes(body.sessionKey, "sessionKey");
  const message = readSiweMessage(body.message);
  checkDomain(message, rules.domains);
  checkChain(message, rules.chainIds);
  checkIssuedAt(message, nowMs);
  checkValidity(message, nowMs);
  if (rules.nonce === "issued" && !nonces.recognises(message.nonce, nowMs)) {
    throw new ApiError("siwe_nonce_not_issued", {}, { field: "message" });
  }
  const key = keyOfBytes(keyBytes);
  const resource = boundResource(message, key, rules);
  return {
    message,
    account: message.address.slice(2).toLowerCase(),
    keyBytes,
    key,
    resource,
    walletSignature: readWalletSignature(message, body.signature),
    expiresAtMs: sessionEndOf(message, nowMs, resource !== undefined, rules.maxBoundSessionMs),
    nonceForgottenAtMs: nonceForgottenAt(message),
  };
}

/** Resolves once key, grammar and signature are proven, in this order, with the contract's chain id if one signed. */
export async function proveSignIn(
  { message, keyBytes, walletSignature }: CheckedSignIn,
  contracts: ContractWallets,
  gate: ContractGate,
): Promise<number | undefined> {
  proveKey(keyBytes, "sessionKey");
  return proveWalletSignature(message, walletSignature, contracts, gate);
}

/** @throws {ApiError} `invalid_session_key` if the bytes encode no valid point */
export function proveKey(key: SessionKeyBytes, field: string): void {
  const problem = keyProblem(key);
  if (problem !== undefined) throw refuseKey(problem, field);
}

function boundResource(
  message: SiweMessage,
  key: SessionPublicKey,
  rules: SignInRules,
): SessionResource | undefined {
  const resource = sessionResourceOf(message);
  if (resource === undefined) {
    if (rules.requireKeyBinding) {
      throw new ApiError("session_key_not_bound", {}, { field: "message" });
    }
    return undefined;
  }
  // By fingerprint: message and body may use different encodings of one key.
  const bound = keyOfBytes(readKeyBytes(resource.key, "message"));
  if (bound.fingerprint !== key.fingerprint) {
    throw new ApiError("session_key_mismatch", { bound: resource.key }, { field: "sessionKey" });
  }
  return resource;
}

const COORDINATES_BYTES = 64;
const UNCOMPRESSED = Uint8Array.of(4);

/**
 * Whether a session key's bytes encode a valid point.
 *
 * OpenSSL accepts Ed25519 points of small order, for which anyone can forge signatures, and non-canonical
 * encodings, so the point is checked once before a key is used. This takes 0.03 to 0.3 ms.
 *
 * What is wrong with the encoded point; undefined if it is valid.
 */
function keyProblem({ kind, bytes }: SessionKeyBytes): string | undefined {
  return kind === "ed25519" ? ed25519Problem(bytes) : secp256k1Problem(bytes);
}

function ed25519Problem(bytes: Uint8Array): string | undefined {
  try {
    // Strict RFC 8032 decoding: y below the field's prime, no negative zero, on the curve.
    const isSmallOrder = ed25519.Point.fromBytes(bytes, false).isSmallOrder();
    return isSmallOrder ? "The session key is an Ed25519 point of small order" : undefined;
  } catch {
    return "The session key is not a canonical Ed25519 point";
  }
}

function secp256k1Problem(bytes: Uint8Array): string | undefined {
  const isBare = bytes.length === COORDINATES_BYTES;
  try {
    const encoded = isBare ? Buffer.concat([UNCOMPRESSED, bytes]) : bytes;
    secp256k1.Point.fromBytes(encoded).assertValidity();
    return undefined;
  } catch {
    return "The session key is not a point of secp256k1";
  }
}
