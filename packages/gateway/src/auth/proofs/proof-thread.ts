/**
 * Runs sign-in proofs in a worker thread: the grammar of a message, the recovery of its signer and the
 * check of a key take 3 to 20 ms together, which would block the event loop that serves orders.
 */

import { Worker } from "node:worker_threads";
import { ApiError } from "@perpgate/protocol";
import type { ProofJob, ProofResult, SignInProofs } from "./proof-job.js";

export interface ProofRequest {
  readonly id: number;
  readonly job: ProofJob;
}

interface ProofReply {
  readonly id: number;
  readonly result: ProofResult;
}

/** A few seconds of work; beyond it a client gets `overloaded`. */
export const MAX_WAITING_PROOFS = 128;

export class ProofThread implements SignInProofs {
  /** Resolves with the reason if the thread ends before `close`. */
  readonly failed: Promise<Error>;
  private readonly waiting = new Map<number, (result: ProofResult) => void>();
  private lastId = 0;
  private isClosed = false;

  private constructor(
    private readonly worker: Worker,
    private readonly chainIds: ReadonlySet<number>,
  ) {
    this.failed = new Promise((resolve) => {
      worker.on("error", resolve);
      worker.on("exit", () => {
        if (!this.isClosed) resolve(new Error("the sign-in proof thread ended"));
      });
    });
    worker.on("message", ({ id, result }: ProofReply) => {
      this.waiting.get(id)?.(result);
      this.waiting.delete(id);
    });
  }

  /** `rpcAddresses`: chain id → RPC address, for contract wallets. */
  static async start(rpcAddresses: ReadonlyMap<number, string>): Promise<ProofThread> {
    // Not the flags of the process: `--conditions=perpgate-source` would make the thread load sources.
    const worker = new Worker(threadFile(), { workerData: rpcAddresses, execArgv: [] });
    await new Promise<void>((resolve, reject) => {
      worker.once("message", () => resolve());
      worker.once("error", reject);
    });
    return new ProofThread(worker, new Set(rpcAddresses.keys()));
  }

  servesChain(chainId: number): boolean {
    return this.chainIds.has(chainId);
  }

  async prove(job: ProofJob): Promise<ProofResult> {
    if (this.isClosed) throw new ApiError("stopped", {});
    if (this.waiting.size >= MAX_WAITING_PROOFS) throw new ApiError("overloaded", {});
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ id, job } satisfies ProofRequest);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.worker.terminate();
  }
}

/** The built file, even if a test runs this module from source. */
function threadFile(): URL {
  const folder = import.meta.url.endsWith(".ts") ? "../../../dist/auth/proofs" : ".";
  return new URL(`${folder}/proof-worker.js`, import.meta.url);
}
