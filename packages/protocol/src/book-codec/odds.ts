/**
 * The adaptive odds of encoder and decoder, one per context: the probability that the next bit is 0, in
 * 4096ths, and how far the next bit moves it. Both ends start even and see the same bits, so the odds
 * are never sent.
 */

import { CONTEXTS, EVEN_ODDS, FIRST_PACE, LAST_PACE, LAST_PACE_BITS, ODDS_ONE } from "./layout.js";

export class Odds {
  private readonly zero = new Uint16Array(CONTEXTS).fill(EVEN_ODDS);
  private readonly pace = new Uint8Array(CONTEXTS).fill(FIRST_PACE);

  reset(): void {
    this.zero.fill(EVEN_ODDS);
    this.pace.fill(FIRST_PACE);
  }

  ofZero(context: number): number {
    return this.zero[context]!;
  }

  learn(context: number, bit: number): void {
    const zero = this.zero[context]!;
    const pace = this.pace[context]!;
    const distance = bit === 0 ? ODDS_ONE - zero : zero;
    // Most bits are learned at the last pace, and a shift costs a fraction of a division.
    const step = pace === LAST_PACE ? distance >> LAST_PACE_BITS : (distance / pace) | 0;
    this.zero[context] = bit === 0 ? zero + step : zero - step;
    if (pace !== LAST_PACE) this.pace[context] = pace + 1;
  }
}
