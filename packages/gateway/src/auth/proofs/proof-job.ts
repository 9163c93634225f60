/**
 * The expensive steps of a sign-in as jobs: plain data in, plain data out, so that a job runs in the
 * calling thread or crosses to another one without change.
 */

import type { SessionKeyBytes } from "@perpgate/protocol";
import { ChainUnavailable, type ContractClaim, type ContractWallets } from "../contract-wallets.js";
import { addressThatSigned, messageHash } from "../eip191.js";
import { keyProblem } from "../session-key-point.js";
import { grammarFault } from "../siwe-grammar.js";
import type { FaultyLine } from "../siwe-lines.js";
import type { SiweMessage } from "../siwe-message.js";
import { keySignatureOf } from "../wallet-signature.js";

export type ProofJob =
  /** Whether the bytes encode a key to be trusted. */
  | { readonly kind: "key"; readonly key: SessionKeyBytes }
  /** Whether the grammar accepts the message, and whose key signed it. */
  | { readonly kind: "message"; readonly message: SiweMessage; readonly signature: Uint8Array }
  | { readonly kind: "contract"; readonly claim: ContractClaim };

export type ProofAnswer =
  | { readonly kind: "key"; readonly problem: string | undefined }
  | { readonly kind: "message"; readonly fault: FaultyLine }
  | { readonly kind: "signer"; readonly signer: string | undefined; readonly hash: Uint8Array }
  | { readonly kind: "contract"; readonly isSigned: boolean }
  | { readonly kind: "unavailable"; readonly reason: string };

export async function answerProofJob(
  job: ProofJob,
  contracts: ContractWallets,
): Promise<ProofAnswer> {
  switch (job.kind) {
    case "key":
      return { kind: "key", problem: keyProblem(job.key) };
    case "message":
      return answerMessage(job.message, job.signature);
    case "contract":
      return answerContract(job.claim, contracts);
  }
}

function answerMessage(message: SiweMessage, signature: Uint8Array): ProofAnswer {
  const fault = grammarFault(message);
  if (fault !== undefined) return { kind: "message", fault };
  const hash = messageHash(message.text);
  const keySignature = keySignatureOf(signature);
  const signer = keySignature === undefined ? undefined : addressThatSigned(hash, keySignature);
  return { kind: "signer", signer, hash };
}

async function answerContract(
  claim: ContractClaim,
  contracts: ContractWallets,
): Promise<ProofAnswer> {
  try {
    return { kind: "contract", isSigned: await contracts.isSignedByContract(claim) };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { kind: "unavailable", reason: error.message };
    throw error;
  }
}
