/**
 * Sign-ins one after another, slower than the limit that an address has, so that people who sign in
 * from the same machine still can.
 */

import { sleepUnlessAborted } from "../sleep.js";

export class SignInQueue {
  private nextAtMs = 0;

  constructor(private readonly everyMs: number) {}

  async turn(signal: AbortSignal): Promise<void> {
    const atMs = Math.max(performance.now(), this.nextAtMs);
    this.nextAtMs = atMs + this.everyMs;
    await sleepUnlessAborted(atMs - performance.now(), signal);
  }
}
