/**
 * The nonces of a session's orders: unique and rising.
 *
 * The server remembers a session's highest 1,024 nonces and rejects an unknown one below all of them.
 * An order that is being retried must therefore not be overtaken by a thousand others: while the
 * oldest unsettled nonce is `SPAN` orders back, new orders wait.
 *
 * A nonce is the clock's milliseconds followed by random bits. A restored session thus continues above
 * every nonce it has used without a request, and two programs that share a session use nonces of the
 * same range instead of one pushing the other's out of the window. Within a program each nonce is
 * above the last one, even if the clock steps back.
 */

import { clockNonce, NONCE_WINDOW, NONCES_PER_MS } from "@perpgate/protocol/core";

/** Orders above the oldest unsettled one. */
const SPAN = NONCE_WINDOW / 2;

export interface ClientClock {
  /** Unix milliseconds. */
  readonly nowMs: () => number;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

const SYSTEM_CLOCK: ClientClock = { nowMs: Date.now, random: Math.random };

interface Issued {
  readonly index: number;
}

export class Nonces {
  private lastNonce: number;
  /** Number of nonces issued. */
  private issued = 0;
  /** Unsettled ones, oldest first. */
  private readonly unsettled = new Set<Issued>();
  private readonly waiting: (() => void)[] = [];

  constructor(
    last = 0,
    private readonly clock: ClientClock = SYSTEM_CLOCK,
  ) {
    this.lastNonce = last;
  }

  /** The highest nonce used. */
  get last(): number {
    return this.lastNonce;
  }

  /**
   * Runs `send` with a new nonce, or with the given one. The nonce is settled when the promise is,
   * fulfilled or rejected.
   */
  async use<T>(given: number | undefined, send: (nonce: number) => Promise<T>): Promise<T> {
    while (this.isFull) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const mark: Issued = { index: this.issued++ };
    this.unsettled.add(mark);
    try {
      return await send(given === undefined ? this.next() : this.note(given));
    } finally {
      this.unsettled.delete(mark);
      if (!this.isFull) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  /** A nonce above all before. */
  next(): number {
    const byClock =
      clockNonce(this.clock.nowMs()) + Math.floor(this.clock.random() * NONCES_PER_MS);
    if (this.lastNonce >= Number.MAX_SAFE_INTEGER) {
      throw new RangeError("this session's nonces are used up; sign in again");
    }
    this.lastNonce = Math.max(this.lastNonce + 1, byClock);
    return this.lastNonce;
  }

  private get isFull(): boolean {
    const [oldest] = this.unsettled;
    return oldest !== undefined && this.issued - oldest.index >= SPAN;
  }

  private note(nonce: number): number {
    if (!Number.isSafeInteger(nonce) || nonce < 0) {
      throw new RangeError(`a nonce is a whole number from 0 to 2^53 - 1, not ${nonce}`);
    }
    this.lastNonce = Math.max(this.lastNonce, nonce);
    return nonce;
  }
}
