/**
 * A sign-in, judged: body in, everything that opens a session out.
 *
 * Shape and key first, which are the client's mistakes (400); then the message, its rules, the
 * binding of the key, and last the signature, which costs most (401). Nothing here changes anything:
 * a refused sign-in burns no nonce. That the nonce is unused is the log's to decide, where parallel
 * submissions meet.
 */

import { Refusal, type SignInBody } from "@perpgate/protocol";
import type { ContractWallets } from "./contract-wallets.js";
import type { NonceIssuer } from "./nonce-issuer.js";
import { readSessionKey, type SessionKey } from "./session-key.js";
import { type SessionResource, sessionResourceOf } from "./session-resource.js";
import { parseSiweMessage, type SiweMessage } from "./siwe-message.js";
import {
  type AllowedDomains,
  checkChain,
  checkDomain,
  checkIssuedAt,
  checkValidity,
  nonceForgottenAt,
  sessionEndOf,
} from "./siwe-rules.js";
import { checkWalletSignature } from "./wallet-signature.js";

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
  readonly contracts: ContractWallets;
}

export interface VerifiedSignIn {
  readonly message: SiweMessage;
  /** Lower-case hex, 40 digits: how the log names accounts. */
  readonly account: string;
  readonly key: SessionKey;
  /** Undefined: the message binds no key and caps nothing. */
  readonly resource: SessionResource | undefined;
  readonly walletSignature: Uint8Array;
  readonly expiresAtMs: number;
  readonly nonceForgottenAtMs: number;
}

export async function verifySignIn(
  body: SignInBody,
  nowMs: number,
  rules: SignInRules,
  { nonces, contracts }: SignInServices,
): Promise<VerifiedSignIn> {
  const key = readSessionKey(body.sessionKey, "sessionKey");
  const message = parseSiweMessage(body.message);
  checkDomain(message, rules.domains);
  checkChain(message, rules.chainIds);
  checkIssuedAt(message, nowMs);
  checkValidity(message, nowMs);
  if (rules.nonce === "issued" && !nonces.recognises(message.nonce, nowMs)) {
    throw new Refusal("siwe_nonce_not_issued", {}, { field: "message" });
  }
  const resource = boundResource(message, key, rules);
  const walletSignature = await checkWalletSignature(message, body.signature, contracts);
  return {
    message,
    account: message.address.slice(2).toLowerCase(),
    key,
    resource,
    walletSignature,
    expiresAtMs: sessionEndOf(message, nowMs),
    nonceForgottenAtMs: nonceForgottenAt(message),
  };
}

function boundResource(
  message: SiweMessage,
  key: SessionKey,
  rules: SignInRules,
): SessionResource | undefined {
  const resource = sessionResourceOf(message);
  if (resource === undefined) {
    if (rules.requireKeyBinding) {
      throw new Refusal("session_key_not_bound", {}, { field: "message" });
    }
    return undefined;
  }
  // By fingerprint: a key has several spellings, and the message may use another than the body.
  const bound = readSessionKey(resource.key, "message");
  if (bound.fingerprint !== key.fingerprint) {
    throw new Refusal("session_key_mismatch", { bound: resource.key }, { field: "sessionKey" });
  }
  return resource;
}
