/**
 * The ring buffer between the appending thread and the committing thread, in shared memory.
 *
 * The appending thread encodes batches at the head, contiguous and in order. The committing thread
 * takes everything published as one run of bytes, writes it to disk directly from the ring, and
 * frees it once it is durable. So all batches that arrive during a sync form the next commit, and
 * no byte is copied. A batch that would cross the end of the ring starts at offset 0 instead, and a
 * zero word marks the unused end.
 *
 * HEAD and TAIL are running byte counts modulo 2^32. Only the appending thread writes HEAD, only the
 * committing thread writes TAIL and DURABLE. A crash loses the ring; nothing in it was acknowledged.
 */

import { batchLength, batchMagic } from "./batch-format.js";
import { MAX_BATCH_BYTES } from "./journal.js";
import { SEGMENT_HEADER_BYTES } from "./segment-format.js";

const HEAD = 0;
const TAIL = 1;
/** Batches made durable since the ring was made, modulo 2^32. */
const DURABLE = 2;
/** Non-zero once the appending thread wants the committing thread to end. */
const CLOSING = 3;
/** Incremented by every `wake`; the committing thread waits on it. */
const CALLS = 4;
/** 1 while the committing thread waits or is about to; at 0 the publisher skips the notify call. */
const ASLEEP = 5;
const CONTROL_WORDS = 6;

export interface RingMemory {
  readonly control: SharedArrayBuffer;
  readonly data: SharedArrayBuffer;
}

/** A run of whole batches in the ring. */
export interface Run {
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

export class CommitRing {
  readonly view: DataView;
  private readonly control: Int32Array<SharedArrayBuffer>;
  private readonly mask: number;
  /** Where the next batch goes; ahead of HEAD until `publish`. */
  private reserved: number;

  constructor(readonly memory: RingMemory) {
    this.view = new DataView(memory.data);
    this.control = new Int32Array(memory.control);
    this.mask = memory.data.byteLength - 1;
    this.reserved = Atomics.load(this.control, HEAD);
  }

  /** Reserves room for a batch: its offset in `view`, or undefined while the ring is too full. */
  reserve(length: number): number | undefined {
    const capacity = this.mask + 1;
    const free = capacity - ((this.reserved - Atomics.load(this.control, TAIL)) | 0);
    const at = this.reserved & this.mask;
    const untilEnd = capacity - at;
    if (length <= untilEnd) {
      if (length > free) return undefined;
      this.reserved = (this.reserved + length) | 0;
      return at;
    }
    if (untilEnd + length > free) return undefined;
    this.view.setUint32(at, 0, true);
    this.reserved = (this.reserved + untilEnd + length) | 0;
    return 0;
  }

  /** Moves HEAD past everything reserved so far, and wakes the committing thread. */
  publish(): void {
    Atomics.store(this.control, HEAD, this.reserved);
    this.wake();
  }

  /** Ends a `wait` of the committing thread. */
  wake(): void {
    Atomics.add(this.control, CALLS, 1);
    if (Atomics.load(this.control, ASLEEP) !== 0) Atomics.notify(this.control, CALLS);
  }

  /** The durable count; the appending thread compares it with the last one it saw. */
  durable(): number {
    return Atomics.load(this.control, DURABLE);
  }

  /** Resolves when the durable count is no longer `seen`, or on `wakeWatcher`. */
  async durableBeyond(seen: number): Promise<void> {
    const wait = Atomics.waitAsync(this.control, DURABLE, seen);
    if (wait.async) await wait.value;
  }

  /** Ends a wait in `durableBeyond` although the count did not change. */
  wakeWatcher(): void {
    Atomics.notify(this.control, DURABLE);
  }

  /** Asks the committing thread to end once it has committed everything published. */
  requestClose(): void {
    Atomics.store(this.control, CLOSING, 1);
    this.wake();
  }

  /** How often `wake` was called; read before what the caller looks at before it waits. */
  calls(): number {
    return Atomics.load(this.control, CALLS);
  }

  /**
   * Blocks until there is something to take, `wake` was called since `calls`, or the time is over.
   * False once the ring is empty and closing.
   */
  wait(calls: number, ms: number): boolean {
    const closing = Atomics.load(this.control, CLOSING) !== 0;
    if (Atomics.load(this.control, HEAD) !== Atomics.load(this.control, TAIL)) return true;
    if (closing) return false;
    if (ms > 0) {
      // ASLEEP is set before the wait compares CALLS. A publisher that read ASLEEP = 0 has already
      // incremented CALLS, so the wait returns immediately.
      Atomics.store(this.control, ASLEEP, 1);
      Atomics.wait(this.control, CALLS, calls, ms);
      Atomics.store(this.control, ASLEEP, 0);
    }
    return true;
  }

  /** Everything published, up to the end of the ring. */
  take(): Run | undefined {
    const head = Atomics.load(this.control, HEAD);
    const tail = Atomics.load(this.control, TAIL);
    if (head === tail) return undefined;
    const start = tail & this.mask;
    const limit = Math.min(start + ((head - tail) | 0), this.mask + 1);
    let end = start;
    while (end < limit && batchMagic(this.view, end) !== 0) end += batchLength(this.view, end);
    if (end > start) return { view: this.view, start, end };
    Atomics.store(this.control, TAIL, (tail + this.mask + 1 - start) | 0);
    return this.take();
  }

  /** Frees the oldest bytes, then adds their batches to DURABLE and wakes the appending thread. */
  release(bytes: number, batches: number): void {
    Atomics.add(this.control, TAIL, bytes);
    Atomics.add(this.control, DURABLE, batches);
    Atomics.notify(this.control, DURABLE);
  }
}

/**
 * Memory for four of the largest batches. Two suffice for a batch to fit into the empty ring
 * wherever its head is; the rest is for appends during a commit.
 */
export function newRingMemory(maxBatchBytes: number): RingMemory {
  return {
    control: new SharedArrayBuffer(4 * CONTROL_WORDS),
    data: new SharedArrayBuffer(ringBytes(maxBatchBytes)),
  };
}

function ringBytes(maxBatchBytes: number): number {
  return 2 ** Math.ceil(Math.log2(4 * maxBatchBytes));
}

/** The longest commit: one run of the ring and a segment header. */
export const MAX_COMMIT_BYTES = ringBytes(MAX_BATCH_BYTES) + SEGMENT_HEADER_BYTES;
