/**
 * Spaces sign-ins below the limit per address, so that people can still sign in from the same
 * machine.
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
