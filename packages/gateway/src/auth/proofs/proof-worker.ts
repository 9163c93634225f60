/** The worker of `ProofThread`. A job that throws is a bug: it ends the thread, and the process exits. */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { RpcContractWallets } from "../contract-wallets.js";
import { runProofJob } from "./proof-job.js";
import type { ProofRequest } from "./proof-thread.js";

/** Lower than that of the threads that serve orders. */
const NICENESS = 10;

// On Linux this is the priority of the calling thread, elsewhere of the whole process.
if (process.platform === "linux") setPriority(NICENESS);

const contracts = new RpcContractWallets(workerData);
parentPort?.on("message", ({ id, job }: ProofRequest) => {
  void runProofJob(job, contracts).then((result) => parentPort?.postMessage({ id, result }));
});
parentPort?.postMessage("ready");
