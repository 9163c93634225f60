/**
 * The ring between the appending side and the committing side, in memory that two threads share.
 *
 * Encoded batches go in at the head, contiguous and in order; the committing side takes all that
 * is published as one run of bytes, writes it straight from here, and frees it once it is durable.
 * So whatever arrives while a sync runs is the next commit, and no byte is copied on the way. A
 * batch that would cross the end of the ring starts over at its beginning, behind a zero word.
 *
 * Head and tail are running byte counts, modulo 2^32. Each has one writer. A crash loses the ring,
 * and nothing in it was acknowledged.
 */

import { batchLength, batchMagic } from "./batch-format.js";
import { MAX_BATCH_BYTES } from "./journal.js";
import { SEGMENT_HEADER_BYTES } from "./segment-format.js";

const HEAD = 0;
const TAIL = 1;
/** Batches made durable since the ring was made, modulo 2^32. */
const DURABLE = 2;
/** Non-zero once the appending side wants the committing side to end. */
const CLOSING = 3;
/** Moves with every publish and with the close request; the committing side sleeps on it. */
const CALLS = 4;
/** 1 while the committing side sleeps, or is about to; else a wake-up would be a wasted call. */
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
  /** Where the next batch goes; runs ahead of HEAD until `publish`. */
  private reserved: number;

  constructor(readonly memory: RingMemory) {
    this.view = new DataView(memory.data);
    this.control = new Int32Array(memory.control);
    this.mask = memory.data.byteLength - 1;
    this.reserved = Atomics.load(this.control, HEAD);
  }

  /** Room for a batch: its offset in `view`, or undefined until something is freed. */
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

  /** Shows everything reserved so far to the committing side, and wakes it. */
  publish(): void {
    Atomics.store(this.control, HEAD, this.reserved);
    this.call();
  }

  /** The durable count; the appending side compares it with the last one it saw. */
  durable(): number {
    return Atomics.load(this.control, DURABLE);
  }

  /** Resolves when the durable count is no longer `seen`, or on `wakeWatcher`. */
  async durableBeyond(seen: number): Promise<void> {
    const wait = Atomics.waitAsync(this.control, DURABLE, seen);
    if (wait.async) await wait.value;
  }

  /** Ends a wait of `durableBeyond` that nothing else would end. */
  wakeWatcher(): void {
    Atomics.notify(this.control, DURABLE);
  }

  /** Asks the committing side to end once it has committed all that is published. */
  requestClose(): void {
    Atomics.store(this.control, CLOSING, 1);
    this.call();
  }

  /** Blocks until there is something to take; false once the ring is empty and closing. */
  waitForRun(): boolean {
    for (;;) {
      const calls = Atomics.load(this.control, CALLS);
      const closing = Atomics.load(this.control, CLOSING) !== 0;
      const empty = Atomics.load(this.control, HEAD) === Atomics.load(this.control, TAIL);
      if (!empty) return true;
      if (closing) return false;
      // Said before the wait looks at CALLS: who still saw it awake has moved CALLS before that.
      Atomics.store(this.control, ASLEEP, 1);
      Atomics.wait(this.control, CALLS, calls);
      Atomics.store(this.control, ASLEEP, 0);
    }
  }

  /** All that is published, up to the end of the ring. */
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

  /** Frees the oldest bytes and tells the appending side that their batches are durable. */
  release(bytes: number, batches: number): void {
    Atomics.add(this.control, TAIL, bytes);
    Atomics.add(this.control, DURABLE, batches);
    Atomics.notify(this.control, DURABLE);
  }

  private call(): void {
    Atomics.add(this.control, CALLS, 1);
    if (Atomics.load(this.control, ASLEEP) !== 0) Atomics.notify(this.control, CALLS);
  }
}

/**
 * Memory for a ring that holds four of the largest batches: with two, a batch always fits once the
 * ring is empty; the rest lets appends go on while a commit runs.
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

/** No commit is longer, since each is one run of the ring, with a segment header at most. */
export const MAX_COMMIT_BYTES = ringBytes(MAX_BATCH_BYTES) + SEGMENT_HEADER_BYTES;
