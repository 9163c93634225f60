/** Sign-in proofs in the calling thread: for tests and the sandbox, where nobody else waits for it. */

import { type ContractWallets, RpcContractWallets } from "../contract-wallets.js";
import { runProofJob, type SignInProofs } from "./proof-job.js";

/** `contracts`: which contract wallets can be asked; none by default. */
export function proofsInThisThread(
  contracts: ContractWallets = new RpcContractWallets(new Map()),
): SignInProofs {
  return {
    servesChain: (chainId) => contracts.servesChain(chainId),
    prove: (job) => runProofJob(job, contracts),
  };
}
