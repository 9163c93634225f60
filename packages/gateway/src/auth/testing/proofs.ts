/** Proofs of sign-ins without limits on contract checks. */

import type { SignInBody } from "@perpgate/protocol";
import type { ContractWallets } from "../contract-wallets.js";
import type { NonceIssuer } from "../nonce-issuer.js";
import { keyOfBytes, readKeyBytes, type SessionPublicKey } from "../session-key.js";
import {
  type CheckedSignIn,
  checkSignIn,
  proveKey,
  proveSignIn,
  type SignInRules,
} from "../sign-in.js";
import { grammarFault } from "../siwe-grammar.js";
import { readSiweMessage, refuseLine, type SiweMessage } from "../siwe-message.js";
import { proveWalletSignature, readWalletSignature } from "../wallet-signature.js";

interface Services {
  readonly nonces: NonceIssuer;
  readonly contracts: ContractWallets;
}

export function readSessionKey(text: string, field: string): SessionPublicKey {
  const bytes = readKeyBytes(text, field);
  proveKey(bytes, field);
  return keyOfBytes(bytes);
}

export function parseSiweMessage(text: string): SiweMessage {
  const message = readSiweMessage(text);
  const fault = grammarFault(message);
  if (fault !== undefined) throw refuseLine(fault);
  return message;
}

export async function verifySignIn(
  body: SignInBody,
  nowMs: number,
  rules: SignInRules,
  { nonces, contracts }: Services,
): Promise<CheckedSignIn> {
  const signIn = checkSignIn(body, nowMs, rules, nonces);
  await proveSignIn(signIn, contracts, (check) => check());
  return signIn;
}

export async function checkWalletSignature(
  message: SiweMessage,
  signature: string,
  contracts: ContractWallets,
): Promise<Uint8Array> {
  const bytes = readWalletSignature(message, signature);
  await proveWalletSignature(message, bytes, contracts, (check) => check());
  return bytes;
}
