/**
 * Verifies signatures in dedicated threads. Compared with libuv's pool, a job costs the event loop a copy
 * of about 300 bytes instead of an object, a lock and a system call, and verdicts that are ready at the
 * same time are delivered in one turn, so that their orders share a batch of the log.
 *
 * A job that does not fit the ring (a body above a kilobyte, a thousand jobs waiting) goes to the pool. A
 * job that is alone is checked by the event loop: waking a thread and being woken by it takes longer.
 */

import { firstMessage, startWorker, type WorkerThread } from "@perpgate/journal/worker";
import type { SessionKey } from "../session-key.js";
import { poolVerifier } from "./pool-verifier.js";
import { SignatureCheck } from "./signature-check.js";
import type { SignatureVerdict, SignatureVerifier } from "./signature-verifier.js";
import { MAX_RING_BODY_BYTES, newVerifyMemory, VerifyRing } from "./verify-ring.js";

export class ThreadVerifier implements SignatureVerifier {
  /** Resolves with the reason if a thread ends before `close`: its jobs would wait forever. */
  readonly failed: Promise<Error>;
  private next = 0;
  private pooled = 0;
  private threaded = 0;
  private inline = 0;
  private readonly check = new SignatureCheck();

  private constructor(private readonly threads: readonly VerifyThread[]) {
    this.failed = Promise.race(threads.map(({ failed }) => failed));
  }

  static async start(count: number): Promise<ThreadVerifier> {
    return new ThreadVerifier(
      await Promise.all(Array.from({ length: count }, () => VerifyThread.start())),
    );
  }

  verify(
    key: SessionKey,
    body: Uint8Array,
    signature: Uint8Array,
    verdict: SignatureVerdict,
    isAlone = false,
  ): void {
    if (isAlone && body.length <= MAX_RING_BODY_BYTES && this.waiting === 0) {
      this.inline++;
      callSafely(verdict, this.check.isValid(key.raw, body, signature));
      return;
    }
    const thread = this.threads[this.next]!;
    this.next = (this.next + 1) % this.threads.length;
    if (thread.offer(key, body, signature, verdict)) {
      this.threaded++;
    } else {
      this.pooled++;
      poolVerifier.verify(key, body, signature, verdict);
    }
  }

  /** Signatures that the threads have not judged yet. */
  get waiting(): number {
    let count = 0;
    for (const thread of this.threads) count += thread.waitingCount;
    return count;
  }

  /** Signatures handed in so far, by where they are checked. */
  get accepted(): { readonly thread: number; readonly pool: number; readonly inline: number } {
    return { thread: this.threaded, pool: this.pooled, inline: this.inline };
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.close()));
  }
}

class VerifyThread {
  readonly failed: Promise<Error>;
  private readonly waiting: SignatureVerdict[] = [];
  private isWakeDue = false;
  private isOver = false;

  private constructor(
    private readonly thread: WorkerThread,
    private readonly ring: VerifyRing,
  ) {
    this.failed = new Promise((resolve) => {
      void thread.exited.then((error) => {
        if (!this.isOver) resolve(error);
      });
    });
    void this.watch();
  }

  static async start(): Promise<VerifyThread> {
    const memory = newVerifyMemory();
    const thread = startWorker("verify", "./verify-thread.js", import.meta.url, {
      workerData: memory,
    });
    await firstMessage(thread);
    return new VerifyThread(thread, new VerifyRing(memory));
  }

  get waitingCount(): number {
    return this.waiting.length;
  }

  offer(key: SessionKey, body: Uint8Array, signature: Uint8Array, verdict: SignatureVerdict) {
    if (!this.ring.offer(key.raw, signature, body)) return false;
    this.waiting.push(verdict);
    this.wakeSoon();
    return true;
  }

  /** Once for all jobs of this turn of the event loop: waking costs a system call. */
  private wakeSoon(): void {
    if (this.isWakeDue) return;
    this.isWakeDue = true;
    setImmediate(() => {
      this.isWakeDue = false;
      this.ring.wake();
    });
  }

  async close(): Promise<void> {
    this.isOver = true;
    this.ring.wakeWatcher();
    await this.thread.worker.terminate();
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      this.deliver();
      await this.ring.verdictReady();
    }
  }

  private deliver(): void {
    let delivered = 0;
    for (let isValid = this.ring.nextVerdict(); isValid !== undefined; ) {
      callSafely(this.waiting[delivered++]!, isValid);
      isValid = this.ring.nextVerdict();
    }
    this.waiting.splice(0, delivered);
  }
}

/** A callback that throws must not keep the others from their verdicts. */
function callSafely(verdict: SignatureVerdict, isValid: boolean): void {
  try {
    verdict(null, isValid);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
