/**
 * The thread that runs the expensive steps of sign-ins. A job that throws is a fault of the program:
 * it ends the thread, and with it the process that relies on it.
 */

import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { RpcContractWallets } from "../contract-wallets.js";
import { answerProofJob } from "./proof-job.js";
import type { ProofRequest } from "./proof-thread.js";

/** Orders go first where cores are few: a sign-in may take longer, an order may not. */
const NICENESS = 10;

// On Linux this is the priority of the calling thread, elsewhere of the whole process.
if (process.platform === "linux") setPriority(NICENESS);

const contracts = new RpcContractWallets(workerData);
parentPort?.on("message", ({ id, job }: ProofRequest) => {
  void answerProofJob(job, contracts).then((answer) => parentPort?.postMessage({ id, answer }));
});
parentPort?.postMessage("ready");
