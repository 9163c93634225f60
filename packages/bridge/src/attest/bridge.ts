/** All attestors of this process on all chains: what the composition root starts and stops. */

import { setMaxListeners } from "node:events";
import type { BridgeObserver } from "../bridge-event.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort } from "../venue-port.js";
import { AttestorLoop } from "./attestor-loop.js";
import { ChainAttestor } from "./chain-attestor.js";

export interface BridgeSurroundings {
  readonly clock: () => number;
  readonly observe: BridgeObserver;
  /** Uniform in [0, 1); default: `Math.random`. */
  readonly uniform?: () => number;
}

export class Bridge {
  private readonly loops: readonly AttestorLoop[];
  private readonly stopping = new AbortController();

  constructor(config: ChainBridgeConfig, port: DepositPort, surroundings: BridgeSurroundings) {
    const { clock, observe, uniform = Math.random } = surroundings;
    // Every request in flight listens; more than ten are no leak.
    setMaxListeners(0, this.stopping.signal);
    this.loops = config.attestors.flatMap((attestor) =>
      config.chains.map((chain) => {
        const stop = this.stopping.signal;
        const parts = { attestor, chain, port, clock, uniform, observe, stop };
        const intervalMs = chain.pollIntervalMs;
        const options = { chain: chain.chain, intervalMs, uniform, observe };
        return new AttestorLoop(new ChainAttestor(parts), options);
      }),
    );
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** For good: requests in flight are given up, votes in flight are waited for. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}
