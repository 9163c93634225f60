/**
 * Runs sign-in proofs in a worker thread: the grammar of a message, the recovery of its signer and the
 * check of a key take 3 to 20 ms together, which would block the event loop that serves orders.
 */

import { firstMessage, startWorker, type WorkerThread } from "@perpgate/journal/worker";
import { ApiError } from "@perpgate/protocol/core";
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
    private readonly thread: WorkerThread,
    private readonly chainIds: ReadonlySet<number>,
  ) {
    this.failed = new Promise((resolve) => {
      void thread.exited.then((error) => {
        if (!this.isClosed) resolve(error);
      });
    });
    thread.worker.on("message", ({ id, result }: ProofReply) => {
      this.waiting.get(id)?.(result);
      this.waiting.delete(id);
    });
  }

  /** `rpcAddresses`: chain id → RPC address, for contract wallets. */
  static async start(rpcAddresses: ReadonlyMap<number, string>): Promise<ProofThread> {
    const thread = startWorker("proof", "./proof-worker.js", import.meta.url, {
      workerData: rpcAddresses,
    });
    await firstMessage(thread);
    return new ProofThread(thread, new Set(rpcAddresses.keys()));
  }

  servesChain(chainId: number): boolean {
    return this.chainIds.has(chainId);
  }

  /** Proofs that the thread has not judged yet. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  async prove(job: ProofJob): Promise<ProofResult> {
    if (this.isClosed) throw new ApiError("stopped", {});
    if (this.waiting.size >= MAX_WAITING_PROOFS) throw new ApiError("overloaded", {});
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.thread.worker.postMessage({ id, job } satisfies ProofRequest);
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.thread.worker.terminate();
  }
}
