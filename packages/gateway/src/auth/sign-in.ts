/**
 * A sign-in, judged: body in, everything that opens a session out.
 *
 * Two halves. `judgeSignIn` reads key, message and signature and applies the rules; it is cheap and
 * refuses everything that can be refused without cryptography. `proveSignIn` has the point of the
 * key, the grammar and the signature checked elsewhere. Nothing here changes anything: a refused
 * sign-in burns no nonce. That the nonce is unused is the log's to decide, where parallel submissions
 * meet.
 */

import { ApiError, type SessionKeyBytes, type SignInBody } from "@perpgate/protocol";
import type { NonceIssuer } from "./nonce-issuer.js";
import type { SignInProofs } from "./proofs/sign-in-proofs.js";
import { keyOfBytes, readKeyBytes, refuseKey, type SessionKey } from "./session-key.js";
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
  /** `issued`: only nonces of this gateway or one that shares its key. */
  readonly nonce: "any" | "issued";
  readonly requireKeyBinding: boolean;
}

export interface SignInServices {
  readonly nonces: NonceIssuer;
  readonly proofs: SignInProofs;
}

export interface JudgedSignIn {
  readonly message: SiweMessage;
  /** Lower-case hex, 40 digits: how the log names accounts. */
  readonly account: string;
  /** As the body spells it; `proveSignIn` judges its point. */
  readonly keyBytes: SessionKeyBytes;
  readonly key: SessionKey;
  /** Undefined: the message binds no key and caps nothing. */
  readonly resource: SessionResource | undefined;
  readonly walletSignature: Uint8Array;
  readonly expiresAtMs: number;
  readonly nonceForgottenAtMs: number;
}

/** Everything but the proofs, cheapest first. */
export function judgeSignIn(
  body: SignInBody,
  nowMs: number,
  rules: SignInRules,
  nonces: NonceIssuer,
): JudgedSignIn {
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
  return {
    message,
    account: message.address.slice(2).toLowerCase(),
    keyBytes,
    key,
    resource: boundResource(message, key, rules),
    walletSignature: readWalletSignature(message, body.signature),
    expiresAtMs: sessionEndOf(message, nowMs),
    nonceForgottenAtMs: nonceForgottenAt(message),
  };
}

/** Resolves once key, grammar and signature are proven; the key is answered for first. */
export async function proveSignIn(
  { message, keyBytes, walletSignature }: JudgedSignIn,
  proofs: SignInProofs,
  gate: ContractGate,
): Promise<void> {
  await proveKey(keyBytes, "sessionKey", proofs);
  await proveWalletSignature(message, walletSignature, proofs, gate);
}

/** Resolves once the bytes are known to encode a key to be trusted. */
export async function proveKey(
  key: SessionKeyBytes,
  field: string,
  proofs: SignInProofs,
): Promise<void> {
  const answer = await proofs.prove({ kind: "key", key });
  if (answer.kind !== "key") throw new Error(`a key was answered by "${answer.kind}"`);
  if (answer.problem !== undefined) throw refuseKey(answer.problem, field);
}

function boundResource(
  message: SiweMessage,
  key: SessionKey,
  rules: SignInRules,
): SessionResource | undefined {
  const resource = sessionResourceOf(message);
  if (resource === undefined) {
    if (rules.requireKeyBinding) {
      throw new ApiError("session_key_not_bound", {}, { field: "message" });
    }
    return undefined;
  }
  // By fingerprint: a key has several spellings, and the message may use another than the body.
  const bound = keyOfBytes(readKeyBytes(resource.key, "message"));
  if (bound.fingerprint !== key.fingerprint) {
    throw new ApiError("session_key_mismatch", { bound: resource.key }, { field: "sessionKey" });
  }
  return resource;
}
