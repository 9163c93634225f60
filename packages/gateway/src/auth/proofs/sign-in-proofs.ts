/**
 * Who does the expensive steps of a sign-in: a thread of its own in a process, the calling thread in
 * a test. Both run the same jobs.
 */

import type { ContractWallets } from "../contract-wallets.js";
import type { ProofAnswer, ProofJob } from "./proof-job.js";

export interface SignInProofs {
  /** Whether contract wallets of the chain can be asked. */
  servesChain(chainId: number): boolean;
  /** @throws {ApiError} `overloaded` where too many jobs wait already. */
  prove(job: ProofJob): Promise<ProofAnswer>;
}

/** Jobs in the calling thread; their code is loaded with the first. */
export function proofsInThisThread(contracts: ContractWallets): SignInProofs {
  return {
    servesChain: (chainId) => contracts.servesChain(chainId),
    prove: async (job) => (await import("./proof-job.js")).answerProofJob(job, contracts),
  };
}
