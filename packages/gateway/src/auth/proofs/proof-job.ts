/** The expensive steps of a sign-in as jobs of plain data, which can be posted to a thread. */

import type { SessionKeyBytes } from "@perpgate/protocol/core";
import { ChainUnavailable, type ContractClaim, type ContractWallets } from "../contract-wallets.js";
import { messageHash, recoverSigner } from "../eip191.js";
import { keyProblem } from "../session-key-point.js";
import { grammarFault } from "../siwe-grammar.js";
import type { FaultyLine } from "../siwe-lines.js";
import type { SiweMessage } from "../siwe-message.js";
import { keySignatureOf } from "../wallet-signature.js";

export type ProofJob =
  /** Whether the bytes encode a valid key. */
  | { readonly kind: "key"; readonly key: SessionKeyBytes }
  /** Whether the grammar accepts the message, and the address of its signer. */
  | { readonly kind: "message"; readonly message: SiweMessage; readonly signature: Uint8Array }
  | { readonly kind: "contract"; readonly claim: ContractClaim };

export type ProofResult =
  | { readonly kind: "key"; readonly problem: string | undefined }
  | { readonly kind: "message"; readonly fault: FaultyLine }
  | { readonly kind: "signer"; readonly signer: string | undefined; readonly hash: Uint8Array }
  | { readonly kind: "contract"; readonly isSigned: boolean }
  | { readonly kind: "unavailable"; readonly reason: string };

/** Runs proof jobs: `ProofThread` in a process, the calling thread in tests. */
export interface SignInProofs {
  /** Whether an RPC is configured for contract wallets of the chain. */
  servesChain(chainId: number): boolean;
  /** @throws {ApiError} `overloaded` if too many jobs are waiting */
  prove(job: ProofJob): Promise<ProofResult>;
}

export async function runProofJob(job: ProofJob, contracts: ContractWallets): Promise<ProofResult> {
  switch (job.kind) {
    case "key":
      return { kind: "key", problem: keyProblem(job.key) };
    case "message":
      return proveMessage(job.message, job.signature);
    case "contract":
      return proveContract(job.claim, contracts);
  }
}

function proveMessage(message: SiweMessage, signature: Uint8Array): ProofResult {
  const fault = grammarFault(message);
  if (fault !== undefined) return { kind: "message", fault };
  const hash = messageHash(message.text);
  const keySignature = keySignatureOf(signature);
  const signer = keySignature === undefined ? undefined : recoverSigner(hash, keySignature);
  return { kind: "signer", signer, hash };
}

async function proveContract(
  claim: ContractClaim,
  contracts: ContractWallets,
): Promise<ProofResult> {
  try {
    return { kind: "contract", isSigned: await contracts.isSignedByContract(claim) };
  } catch (error) {
    if (error instanceof ChainUnavailable) return { kind: "unavailable", reason: error.message };
    throw error;
  }
}
