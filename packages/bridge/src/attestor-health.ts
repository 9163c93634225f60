/**
 * Readiness of a process's attestors, by their polls. A failing RPC endpoint does not make the process
 * unready; it has its own metrics.
 */

import type { Chain } from "@perpgate/protocol";
import type { BridgeEvent } from "./bridge-event.js";

/** Unready after failing for this long. */
const FAILING_MS = 60_000;
/** Longer than the longest poll with all its time-outs. */
const SILENT_MS = 600_000;

interface ChainHealth {
  /** End of the last successful poll; initially the start. */
  goodAtMs: number;
  endedAtMs: number;
  reason: string | undefined;
}

export class AttestorHealth {
  private readonly chains: Map<Chain, ChainHealth>;

  constructor(
    chains: readonly Chain[],
    private readonly clock: () => number,
  ) {
    const nowMs = clock();
    const fresh = (): ChainHealth => ({ goodAtMs: nowMs, endedAtMs: nowMs, reason: undefined });
    this.chains = new Map(chains.map((chain) => [chain, fresh()]));
  }

  observe(event: BridgeEvent): void {
    const health = this.chains.get(event.chain);
    if (health === undefined) return;
    const nowMs = this.clock();
    switch (event.kind) {
      case "Polled":
        health.goodAtMs = nowMs;
        health.endedAtMs = nowMs;
        health.reason = undefined;
        return;
      case "PollFailed":
        health.endedAtMs = nowMs;
        health.reason = event.error instanceof Error ? event.error.message : String(event.error);
        return;
      case "ConfigurationDiffers":
        health.endedAtMs = nowMs;
        health.reason = event.difference;
    }
  }

  /** Why deposits of some chain are not attested, or undefined. */
  notReadyReason(): string | undefined {
    const nowMs = this.clock();
    for (const [chain, { goodAtMs, endedAtMs, reason }] of this.chains) {
      if (reason !== undefined && nowMs - goodAtMs > FAILING_MS) {
        return `deposits of ${chain} are not attested: ${reason}`;
      }
      if (nowMs - endedAtMs > SILENT_MS) {
        const seconds = Math.round((nowMs - endedAtMs) / 1_000);
        return `deposits of ${chain} are not attested: no poll has ended for ${seconds} s`;
      }
    }
    return undefined;
  }
}
