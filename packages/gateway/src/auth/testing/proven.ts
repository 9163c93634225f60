/** Sign-ins and wallet signatures proven in the calling thread, without limits on contract checks. */

import type { SignInBody } from "@perpgate/protocol";
import type { ContractWallets } from "../contract-wallets.js";
import type { NonceIssuer } from "../nonce-issuer.js";
import { proofsInThisThread } from "../proofs/sign-in-proofs.js";
import { type JudgedSignIn, judgeSignIn, proveSignIn, type SignInRules } from "../sign-in.js";
import type { SiweMessage } from "../siwe-message.js";
import { proveWalletSignature, readWalletSignature } from "../wallet-signature.js";

interface Services {
  readonly nonces: NonceIssuer;
  readonly contracts: ContractWallets;
}

export async function verifySignIn(
  body: SignInBody,
  nowMs: number,
  rules: SignInRules,
  { nonces, contracts }: Services,
): Promise<JudgedSignIn> {
  const signIn = judgeSignIn(body, nowMs, rules, nonces);
  await proveSignIn(signIn, proofsInThisThread(contracts), (check) => check());
  return signIn;
}

export async function checkWalletSignature(
  message: SiweMessage,
  signature: string,
  contracts: ContractWallets,
): Promise<Uint8Array> {
  const bytes = readWalletSignature(message, signature);
  await proveWalletSignature(message, bytes, proofsInThisThread(contracts), (check) => check());
  return bytes;
}
