/**
 * The highest nonces a session executed, each with its order's id: 16 bytes an entry, grown as
 * used, at most `NONCE_WINDOW` of them. Kept sorted; a nonce above all others, the usual case,
 * is appended, and the oldest falls off the front without moving the rest.
 */
import { NONCE_WINDOW } from "../config.js";

export class NonceWindow {
  private nonces = new Float64Array(8);
  private orders = new Float64Array(8);
  private start = 0;
  private end = 0;

  get count(): number {
    return this.end - this.start;
  }

  /** The order id that used the nonce, or 0. */
  orderOf(nonce: number): number {
    const at = this.firstAtOrAbove(nonce);
    return at < this.end && this.nonces[at] === nonce ? this.orders[at]! : 0;
  }

  /** Whether the nonce lies below a full window, so that nobody can tell if it was used. */
  isTooOld(nonce: number): boolean {
    return this.count === NONCE_WINDOW && nonce < this.nonces[this.start]!;
  }

  lowest(): number {
    return this.count === 0 ? 0 : this.nonces[this.start]!;
  }

  /** Remembers an unseen nonce that is not too old. */
  remember(nonce: number, orderId: number): void {
    if (this.count === NONCE_WINDOW) this.start++;
    if (this.end === this.nonces.length) this.makeRoom();
    const at = this.firstAtOrAbove(nonce);
    if (at < this.end) {
      this.nonces.copyWithin(at + 1, at, this.end);
      this.orders.copyWithin(at + 1, at, this.end);
    }
    this.nonces[at] = nonce;
    this.orders[at] = orderId;
    this.end++;
  }

  /** Nonce and order id of the i-th entry, lowest first. */
  nonceAt(i: number): number {
    return this.nonces[this.start + i]!;
  }

  orderAt(i: number): number {
    return this.orders[this.start + i]!;
  }

  private firstAtOrAbove(nonce: number): number {
    const { nonces } = this;
    if (this.end > this.start && nonces[this.end - 1]! < nonce) return this.end;
    let low = this.start - 1;
    let high = this.end;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (nonces[middle]! >= nonce) high = middle;
      else low = middle;
    }
    return high;
  }

  /** Doubles, or, once twice the window, moves the live half to the front. */
  private makeRoom(): void {
    const { nonces, orders } = this;
    if (nonces.length < 2 * NONCE_WINDOW) {
      this.nonces = new Float64Array(nonces.length * 2);
      this.orders = new Float64Array(orders.length * 2);
    }
    this.nonces.set(nonces.subarray(this.start, this.end));
    this.orders.set(orders.subarray(this.start, this.end));
    this.end -= this.start;
    this.start = 0;
  }
}
