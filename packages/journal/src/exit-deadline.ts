/**
 * The time by which the process must have exited, in memory shared by all threads.
 *
 * A thread that fails sets it without waiting for any other thread; a watchdog thread waits for it
 * and kills the process when it passes. So the process ends even if the main thread is busy or
 * blocked and does not process the failure.
 *
 * The deadline is in nanoseconds of the monotonic clock, which all threads share; 0 means not set. It
 * only ever moves to an earlier time. The reason is written once, by the thread that changes its
 * state from EMPTY to WRITING; readers use it only in the state WRITTEN.
 */

const EMPTY = 0;
const WRITING = 1;
const WRITTEN = 2;

const DEADLINE_BYTES = 8;
const STATE_AT = DEADLINE_BYTES;
const LENGTH_AT = STATE_AT + 4;
const TEXT_AT = LENGTH_AT + 4;
const TEXT_BYTES = 1_024;

/** Time that a failed process has to answer its clients, end its threads and exit. */
export const FAILURE_EXIT_MS = 3_000;

export class ExitDeadline {
  readonly memory: SharedArrayBuffer;
  private readonly deadline: BigInt64Array<SharedArrayBuffer>;
  private readonly words: Int32Array<SharedArrayBuffer>;
  private readonly text: Uint8Array<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(TEXT_AT + TEXT_BYTES)) {
    this.memory = memory;
    this.deadline = new BigInt64Array(memory, 0, 1);
    this.words = new Int32Array(memory, STATE_AT, 2);
    this.text = new Uint8Array(memory, TEXT_AT, TEXT_BYTES);
  }

  /** The process has failed. The first reason is kept. */
  fail(reason: string): void {
    if (Atomics.compareExchange(this.words, 0, EMPTY, WRITING) === EMPTY) {
      const bytes = Buffer.from(reason).subarray(0, TEXT_BYTES);
      this.text.set(bytes);
      Atomics.store(this.words, 1, bytes.length);
      Atomics.store(this.words, 0, WRITTEN);
    }
    this.endWithin(FAILURE_EXIT_MS);
  }

  /** The process must have exited after that time; an earlier deadline stays. */
  endWithin(ms: number): void {
    const wanted = process.hrtime.bigint() + BigInt(Math.round(ms * 1e6));
    for (let set = Atomics.load(this.deadline, 0); set === 0n || wanted < set; ) {
      const found = Atomics.compareExchange(this.deadline, 0, set, wanted);
      if (found === set) break;
      set = found;
    }
    Atomics.notify(this.deadline, 0);
  }

  /** Why the process failed, if it has. */
  get reason(): string | undefined {
    if (Atomics.load(this.words, 0) !== WRITTEN) return undefined;
    return Buffer.from(this.text.slice(0, Atomics.load(this.words, 1))).toString();
  }

  /** Blocks the calling thread until a deadline is set and has passed. */
  waitUntilPassed(): void {
    for (;;) {
      const deadline = Atomics.load(this.deadline, 0);
      const leftMs =
        deadline === 0n
          ? Number.POSITIVE_INFINITY
          : Number(deadline - process.hrtime.bigint()) / 1e6;
      if (leftMs <= 0) return;
      // Returns immediately if the deadline changed after it was read.
      Atomics.wait(this.deadline, 0, deadline, leftMs);
    }
  }
}
