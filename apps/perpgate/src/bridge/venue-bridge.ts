/**
 * The bridge of a process that runs a venue: its own attestors, the desk for those elsewhere, and
 * the alarm. Nothing of it exists under the `dev` attestor. Attestors start once the venue has
 * recovered, on a thread of their own, and stop before it closes, so that no vote is left between.
 */

import { type BridgeConfig, BridgeThread, type DepositPort, observeBridge } from "@perpgate/bridge";
import type { Venue, VenueLogger } from "@perpgate/venue";
import type { Registry } from "prom-client";
import { watchReorgs } from "./reorg-alarm.js";
import { VenueDeposits } from "./venue-deposits.js";
import { VotesDesk } from "./votes-desk.js";

export interface VenueBridge {
  readonly desk: VotesDesk;
  start(): void;
  stop(): Promise<void>;
}

/** The port of the attestors' thread, which has checked its signatures. */
function checkedBefore(deposits: VenueDeposits): DepositPort {
  return {
    pending: (chain, attestor) => deposits.pending(chain, attestor),
    credited: (chain, sinceMs, attestor) => deposits.credited(chain, sinceMs, attestor),
    submit: (votes) => deposits.submitChecked(votes),
    markReorged: (vote) => deposits.markReorged(vote),
  };
}

export function createVenueBridge(
  config: BridgeConfig,
  venue: Venue,
  log: VenueLogger,
  metrics: Registry,
): VenueBridge | undefined {
  if (config.kind === "dev") return undefined;
  const deposits = new VenueDeposits(venue, config);
  watchReorgs(venue, log, metrics);
  const thread = new BridgeThread({
    config,
    port: checkedBefore(deposits),
    // The venue's time, which no correction of the machine's clock sets back.
    clock: () => venue.nowMs(),
    observe: observeBridge(log, metrics),
    onEnded: (error) => log.error({ err: error }, "the attestors' thread ended; another follows"),
  });
  const hasAttestors = config.attestors.length > 0;
  return {
    desk: new VotesDesk(venue, deposits, config),
    start: () => {
      if (hasAttestors) thread.start();
    },
    stop: () => thread.stop(),
  };
}
