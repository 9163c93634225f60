/**
 * The bridge of a process that runs a venue: its own attestors, the desk for those elsewhere, and
 * the alarm. Nothing of it exists under the `dev` attestor. Attestors start once the venue has
 * recovered, and stop before it closes, so that no vote is left between the two.
 */

import { Bridge, type BridgeConfig, observeBridge } from "@perpgate/bridge";
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

export function createVenueBridge(
  config: BridgeConfig,
  venue: Venue,
  log: VenueLogger,
  metrics: Registry,
): VenueBridge | undefined {
  if (config.kind === "dev") return undefined;
  const deposits = new VenueDeposits(venue, config);
  watchReorgs(venue, log, metrics);
  const bridge = new Bridge(config, deposits, {
    // The venue's time, which no correction of the machine's clock sets back.
    clock: () => venue.nowMs(),
    observe: observeBridge(log, metrics),
  });
  return {
    desk: new VotesDesk(venue, deposits, config),
    start: () => bridge.start(),
    stop: () => bridge.stop(),
  };
}
