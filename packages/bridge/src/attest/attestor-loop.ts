/**
 * Runs an attestor: a poll, a pause, the next poll. A poll that fails is reported and followed by
 * the next as usual; the pause has a little chance in it, so that attestors do not ask in step.
 */

import type { Chain } from "@perpgate/protocol";
import type { BridgeObserver } from "../bridge-event.js";

export interface Pollable {
  poll(): Promise<void>;
}

export interface LoopOptions {
  readonly chain: Chain;
  readonly intervalMs: number;
  /** Uniform in [0, 1). */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
}

export class AttestorLoop {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> = Promise.resolve();
  private isStopped = true;

  constructor(
    private readonly attestor: Pollable,
    private readonly options: LoopOptions,
  ) {}

  start(): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    this.run();
  }

  /** No poll begins after this; resolves once the one under way has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.polling;
  }

  private run(): void {
    const { chain, observe, intervalMs, uniform } = this.options;
    this.polling = this.attestor
      .poll()
      .catch((error: unknown) => observe({ kind: "PollFailed", chain, error }))
      .then(() => {
        if (this.isStopped) return;
        const pauseMs = intervalMs * (0.9 + 0.2 * uniform());
        this.timer = setTimeout(() => this.run(), pauseMs);
      });
  }
}
