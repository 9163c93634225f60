/**
 * The nonces of a session's orders: unique, rising, and never so far apart that one is forgotten.
 *
 * The server remembers the highest 1,024 nonces and refuses an unknown one below all of them. So an
 * order that is being retried must not be overtaken by a thousand others: no new nonce is handed out
 * while the oldest unsettled one lies `SPAN` orders back. The order that asks waits.
 *
 * A nonce follows the clock: milliseconds, then a few bits of chance. A session that was saved and
 * restored, even by two programs at a time, thus goes on above what was used, without asking anyone,
 * and two programs that share a session stay side by side instead of one outrunning the other's
 * nonces. Within a program each is above the last, also where the clock steps back.
 */

/** 2024-01-01. With 13 bits of chance the numbers stay below 2^53 until 2058. */
const EPOCH_MS = 1_704_067_200_000;
const CHANCE = 8_192;
/** Orders above the oldest unsettled one; half of what the server remembers. */
const SPAN = 512;

interface Issued {
  readonly place: number;
}

export class Nonces {
  private lastNonce: number;
  /** How many have been handed out. */
  private issued = 0;
  /** Unsettled ones, oldest first. */
  private readonly unsettled = new Set<Issued>();
  private readonly waiting: (() => void)[] = [];

  constructor(
    last = 0,
    private readonly nowMs: () => number = Date.now,
    private readonly random: () => number = Math.random,
  ) {
    this.lastNonce = last;
  }

  /** The highest that was used. */
  get last(): number {
    return this.lastNonce;
  }

  /**
   * Runs an order with a nonce of its own, or with the one it brings; it counts as settled when the
   * promise is, whatever became of it.
   */
  async use<T>(given: number | undefined, send: (nonce: number) => Promise<T>): Promise<T> {
    while (this.isFull) await new Promise<void>((resolve) => this.waiting.push(resolve));
    const mark: Issued = { place: this.issued++ };
    this.unsettled.add(mark);
    try {
      return await send(given === undefined ? this.next() : this.note(given));
    } finally {
      this.unsettled.delete(mark);
      if (!this.isFull) for (const resolve of this.waiting.splice(0)) resolve();
    }
  }

  private get isFull(): boolean {
    const [oldest] = this.unsettled;
    return oldest !== undefined && this.issued - oldest.place >= SPAN;
  }

  private next(): number {
    const byClock = (this.nowMs() - EPOCH_MS) * CHANCE + Math.floor(this.random() * CHANCE);
    if (this.lastNonce >= Number.MAX_SAFE_INTEGER) {
      throw new RangeError("this session's nonces are used up; sign in again");
    }
    this.lastNonce = Math.max(this.lastNonce + 1, byClock);
    return this.lastNonce;
  }

  private note(nonce: number): number {
    if (!Number.isSafeInteger(nonce) || nonce < 0) {
      throw new RangeError(`a nonce is a whole number from 0 to 2^53 - 1, not ${nonce}`);
    }
    this.lastNonce = Math.max(this.lastNonce, nonce);
    return nonce;
  }
}
