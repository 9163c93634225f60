/**
 * Sign-in proofs in a thread of their own: the grammar of a message, the recovery of its signer and
 * the judging of a key take 3 to 20 ms together, in which the thread of orders would stand still.
 */

import { Worker } from "node:worker_threads";
import { ApiError } from "@perpgate/protocol";
import type { ProofAnswer, ProofJob } from "./proof-job.js";
import type { SignInProofs } from "./sign-in-proofs.js";

export interface ProofRequest {
  readonly id: number;
  readonly job: ProofJob;
}

interface ProofReply {
  readonly id: number;
  readonly answer: ProofAnswer;
}

/** Some seconds of work; a client that would wait longer is better told to come again. */
export const MAX_WAITING_PROOFS = 128;

export class ProofThread implements SignInProofs {
  /** Resolves, with the reason, if the thread ends by itself. */
  readonly failed: Promise<Error>;
  private readonly waiting = new Map<number, (answer: ProofAnswer) => void>();
  private lastId = 0;
  private isOver = false;

  private constructor(
    private readonly worker: Worker,
    private readonly chainIds: ReadonlySet<number>,
  ) {
    this.failed = new Promise((resolve) => {
      worker.on("error", resolve);
      worker.on("exit", () => {
        if (!this.isOver) resolve(new Error("the thread that proves sign-ins ended"));
      });
    });
    worker.on("message", ({ id, answer }: ProofReply) => {
      this.waiting.get(id)?.(answer);
      this.waiting.delete(id);
    });
  }

  /** `rpcAddresses`: chain id → RPC address, for contract wallets. */
  static async start(rpcAddresses: ReadonlyMap<number, string>): Promise<ProofThread> {
    // Without the flags of the process: a condition that leads to sources would lead it there too.
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

  async prove(job: ProofJob): Promise<ProofAnswer> {
    if (this.isOver) throw new ApiError("stopped", {});
    if (this.waiting.size >= MAX_WAITING_PROOFS) throw new ApiError("overloaded", {});
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ id, job } satisfies ProofRequest);
    });
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.worker.terminate();
  }
}

/** Threads run built code, also when this module is run from its sources by a test. */
function threadFile(): URL {
  const folder = import.meta.url.endsWith(".ts") ? "../../../dist/auth/proofs" : ".";
  return new URL(`${folder}/proof-worker.js`, import.meta.url);
}
