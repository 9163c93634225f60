/**
 * The highest nonces that a session executed, each with its order's id: 16 bytes per entry, at most
 * `NONCE_WINDOW` entries, sorted. A nonce above all others, the usual case, is appended, and the
 * oldest entry is dropped by advancing `start`.
 */
import { NONCE_WINDOW } from "../config.js";

/** Words per entry: nonce, order id. */
const PAIR = 2;

export class NonceWindow {
  private pairs = new Float64Array(4 * PAIR);
  /** Entries are at indexes start … end − 1. */
  private start = 0;
  private end = 0;
  /** A copy of the last nonce: the check of a new order's nonce reads only this field. */
  private highest = -1;

  /** A window with these entries: nonce, order id, nonce, order id …, ascending. */
  static of(entries: number, read: (pairs: Float64Array) => void): NonceWindow {
    const window = new NonceWindow();
    let capacity = window.pairs.length;
    while (capacity < entries * PAIR) capacity *= 2;
    if (capacity > window.pairs.length) window.pairs = new Float64Array(capacity);
    read(window.pairs);
    window.end = entries;
    for (let i = 1; i < entries; i++) {
      if (!(window.nonceAt(i) > window.nonceAt(i - 1))) throw new RangeError("nonces must rise");
    }
    if (entries > 0) window.highest = window.nonceAt(entries - 1);
    return window;
  }

  get count(): number {
    return this.end - this.start;
  }

  /** The order id that used the nonce, or 0. */
  orderOf(nonce: number): number {
    if (nonce > this.highest) return 0;
    const at = this.firstAtOrAbove(nonce);
    return at < this.end && this.pairs[at * PAIR] === nonce ? this.pairs[at * PAIR + 1]! : 0;
  }

  /** Whether the nonce is below a full window, so that it is unknown whether it was used. */
  isTooOld(nonce: number): boolean {
    return this.end - this.start === NONCE_WINDOW && nonce < this.lowest();
  }

  lowest(): number {
    return this.count === 0 ? 0 : this.pairs[this.start * PAIR]!;
  }

  /** Adds an unused nonce that is not too old. */
  remember(nonce: number, orderId: number): void {
    if (this.count === NONCE_WINDOW) this.start++;
    if (this.end * PAIR === this.pairs.length) this.makeRoom();
    let at = this.end;
    if (nonce > this.highest) {
      this.highest = nonce;
    } else {
      at = this.firstAtOrAbove(nonce);
      this.pairs.copyWithin((at + 1) * PAIR, at * PAIR, this.end * PAIR);
    }
    this.pairs[at * PAIR] = nonce;
    this.pairs[at * PAIR + 1] = orderId;
    this.end++;
  }

  /** Nonce and order id of the i-th entry, lowest first. */
  nonceAt(i: number): number {
    return this.pairs[(this.start + i) * PAIR]!;
  }

  orderAt(i: number): number {
    return this.pairs[(this.start + i) * PAIR + 1]!;
  }

  private firstAtOrAbove(nonce: number): number {
    const { pairs } = this;
    let low = this.start - 1;
    let high = this.end;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (pairs[middle * PAIR]! >= nonce) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Doubles the array up to twice the window; then moves the live half to the front. */
  private makeRoom(): void {
    const { pairs } = this;
    if (pairs.length < 2 * NONCE_WINDOW * PAIR) this.pairs = new Float64Array(pairs.length * 2);
    this.pairs.set(pairs.subarray(this.start * PAIR, this.end * PAIR));
    this.end -= this.start;
    this.start = 0;
  }
}
