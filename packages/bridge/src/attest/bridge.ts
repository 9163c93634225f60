/** All attestors of a process on all chains. */

import { setMaxListeners } from "node:events";
import type { Chain } from "@perpgate/protocol";
import type { BridgeObserver, PollSubject } from "../bridge-event.js";
import type { ChainBridgeConfig } from "../config/bridge-config.js";
import type { DepositPort } from "../venue-port.js";
import { RequestWatch } from "../withdraw/request-watch.js";
import { type SigningConfig, WithdrawalAttestor } from "../withdraw/withdrawal-attestor.js";
import type { WithdrawalPort } from "../withdraw/withdrawal-port.js";
import { ChainAttestor } from "./chain-attestor.js";

/** What an attestor needs to sign withdrawals. */
export interface WithdrawalOptions {
  readonly port: WithdrawalPort;
  readonly signing: SigningConfig;
}

export interface BridgeOptions {
  /** Missing: deposits alone. */
  readonly withdrawals?: WithdrawalOptions;
  readonly clock: () => number;
  readonly observe: BridgeObserver;
  /** Uniform in [0, 1); default: `Math.random`. */
  readonly uniform?: () => number;
}

export class Bridge {
  private readonly loops: readonly AttestorLoop[];
  private readonly stopping = new AbortController();

  constructor(config: ChainBridgeConfig, port: DepositPort, options: BridgeOptions) {
    const { clock, observe, uniform = Math.random, withdrawals } = options;
    // Every request in flight adds a listener.
    setMaxListeners(0, this.stopping.signal);
    this.loops = config.attestors.flatMap((attestor) =>
      config.chains.flatMap((chain) => {
        const stop = this.stopping.signal;
        const parts = { attestor, chain, port, clock, uniform, observe, stop };
        const intervalMs = chain.pollIntervalMs;
        const loop = {
          chain: chain.chain,
          attestor: attestor.index,
          intervalMs,
          uniform,
          observe,
        };
        const loops = [new AttestorLoop(new ChainAttestor(parts), { ...loop, of: "deposits" })];
        if (withdrawals !== undefined) {
          const both = { ...parts, ...withdrawals };
          loops.push(
            new AttestorLoop(new RequestWatch(both), { ...loop, of: "requests" }),
            new AttestorLoop(new WithdrawalAttestor(both), { ...loop, of: "withdrawals" }),
          );
        }
        return loops;
      }),
    );
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Permanent. Aborts requests to chains; waits for votes in flight. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }
}

interface Poll {
  poll(): Promise<void>;
}

interface LoopOptions {
  readonly chain: Chain;
  readonly attestor: number;
  readonly of: PollSubject;
  readonly intervalMs: number;
  /** Uniform in [0, 1). */
  readonly uniform: () => number;
  readonly observe: BridgeObserver;
}

/** Polls periodically, with jitter so that attestors do not poll in step; a failed poll is reported. */
class AttestorLoop {
  private timer: NodeJS.Timeout | undefined;
  private polling: Promise<void> = Promise.resolve();
  private isStopped = true;

  constructor(
    private readonly work: Poll,
    private readonly options: LoopOptions,
  ) {}

  start(): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    this.run();
  }

  /** Starts no further poll; resolves once the current one has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.polling;
  }

  private run(): void {
    const { chain, attestor, of, observe, intervalMs, uniform } = this.options;
    this.polling = this.work
      .poll()
      .catch((error: unknown) => {
        // The stop has aborted its requests.
        if (!this.isStopped) observe({ kind: "PollFailed", chain, attestor, of, error });
      })
      .then(() => {
        if (this.isStopped) return;
        const pauseMs = intervalMs * (0.9 + 0.2 * uniform());
        this.timer = setTimeout(() => this.run(), pauseMs);
      });
  }
}
