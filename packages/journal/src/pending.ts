/**
 * Appends that are not durable yet, oldest first: those in the ring, then those that wait for room
 * in it. The queue is an array with a moving start, cut every `CUT_AT` entries.
 */

import type { BatchId } from "./journal.js";

export interface PendingAppend {
  readonly id: BatchId;
  readonly records: readonly Uint8Array[];
  readonly length: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const CUT_AT = 4096;
/** Replaces a removed entry, so that the part not cut yet keeps no records alive. */
const GONE: PendingAppend = {
  id: { writer: "", counter: 0 },
  records: [],
  length: 0,
  resolve: () => undefined,
  reject: () => undefined,
};

export class PendingAppends {
  private queue: PendingAppend[] = [];
  private oldest = 0;
  private placed = 0;

  get size(): number {
    return this.queue.length - this.oldest;
  }

  push(append: PendingAppend): void {
    this.queue.push(append);
  }

  /** Calls `place` for those not in the ring yet, in order, until it returns false. */
  placeWith(place: (append: PendingAppend) => boolean): void {
    for (let next = this.queue[this.placed]; next !== undefined; next = this.queue[this.placed]) {
      if (!place(next)) return;
      this.placed += 1;
    }
  }

  /** Removes the oldest, which is in the ring. */
  shift(): PendingAppend {
    const oldest = this.queue[this.oldest];
    if (oldest === undefined || this.oldest === this.placed) {
      throw new Error("a batch became durable that was not appended");
    }
    this.queue[this.oldest] = GONE;
    this.oldest += 1;
    if (this.oldest === this.queue.length) {
      this.queue = [];
      this.oldest = 0;
      this.placed = 0;
    } else if (this.oldest >= CUT_AT) {
      this.queue.splice(0, this.oldest);
      this.placed -= this.oldest;
      this.oldest = 0;
    }
    return oldest;
  }

  /** Removes all. */
  drain(): PendingAppend[] {
    const rest = this.queue.slice(this.oldest);
    this.queue = [];
    this.oldest = 0;
    this.placed = 0;
    return rest;
  }
}
