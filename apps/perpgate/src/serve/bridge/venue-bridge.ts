/**
 * The bridge of a process that runs a venue: the attestors of this process, the intake for votes of
 * remote attestors, metrics and the reorg alarm. With the dev attestor there is none. Attestors start
 * in a process after the venue has recovered and stop before it closes, so that no vote is lost.
 */

import {
  AttestorHealth,
  type BridgeConfig,
  BridgeProcess,
  type DepositPort,
  observeBridge,
} from "@perpgate/bridge";
import { CoreRouter, type ReadinessProbe } from "@perpgate/link";
import { voteText } from "@perpgate/protocol/core";
import type { Venue, VenueLogger } from "@perpgate/venue";
import type { Registry } from "prom-client";
import { type RemoteCores, routedTo } from "../link-settings.js";
import { measureBridge, measureReserves, watchReorgs } from "./bridge-metrics.js";
import { VenueDeposits } from "./venue-deposits.js";
import { VoteIntake } from "./vote-intake.js";

interface VenueBridge {
  readonly intake: VoteIntake;
  /** Not ready while the attestors of this process cannot work. */
  readonly probe: ReadinessProbe;
  start(): void;
  stop(): Promise<void>;
}

/**
 * The port of the attestors' process, whose votes need no signature check here. While this core stands by
 * they go to the core that leads, which checks them as those of any attestor elsewhere.
 */
function ownPort(venue: Venue, deposits: VenueDeposits, others: CoreRouter | undefined) {
  const port: DepositPort = {
    terms: () => deposits.terms(),
    pending: (chain, attestor, order, after) => deposits.pending(chain, attestor, order, after),
    credited: (chain, attestor, since, after) => deposits.credited(chain, attestor, since, after),
    submit: async (votes) => {
      if (others === undefined || !venue.isStandby) return deposits.submitChecked(votes);
      const texts = votes.map(({ vote, signature }) => ({ text: voteText(vote), signature }));
      const { result } = await others.request("submitDepositVotes", { body: { votes: texts } });
      return result.refusals;
    },
  };
  return port;
}

export function createVenueBridge(
  config: BridgeConfig,
  venue: Venue,
  log: VenueLogger,
  metrics: Registry,
  otherCores?: RemoteCores,
): VenueBridge | undefined {
  if (config.kind === "dev") return undefined;
  const deposits = new VenueDeposits(venue, config);
  watchReorgs(venue, log, metrics);
  measureBridge(metrics, venue, deposits, config);
  const intake = new VoteIntake(venue, deposits);
  measureReserves(metrics, venue, intake);
  const hasAttestors = config.attestors.length > 0;
  // They judge deposits alone, whatever the file says of signing.
  const { attestors: members, chains: watched } = config;
  // Monotonic: a wall clock that is set forward must not make the venue unready.
  // Trading goes on without deposits: an old head, and a configuration that differs since `perpgate
  // configure`, are alerts, not reasons to send traders away.
  const health = new AttestorHealth(
    { attestors: members, chains: watched },
    () => performance.now(),
    "polls",
  );
  const chains = hasAttestors ? config.chains.map(({ chain }) => chain) : [];
  const report = observeBridge(log, metrics, chains);
  const others = hasAttestors && otherCores !== undefined ? linkTo(otherCores, log) : undefined;
  const attestors = new BridgeProcess({
    config,
    venueId: deposits.history.venueId,
    port: ownPort(venue, deposits, others),
    // Never back.
    clock: () => venue.steadyMs(),
    observe: (event) => {
      health.observe(event);
      report(event);
    },
    onEnded: (error) =>
      log.error({ err: error }, "the attestors' process ended and is started again"),
  });
  return {
    intake,
    probe: { name: "bridge", notReadyReason: () => health.notReadyReason() },
    start: () => {
      if (hasAttestors) attestors.start();
    },
    stop: async () => {
      await attestors.stop();
      others?.close("the core stops");
    },
  };
}

function linkTo(otherCores: RemoteCores, log: VenueLogger): CoreRouter {
  return new CoreRouter(routedTo(otherCores), {
    switched: (core) => log.info({ core }, "votes of attestors go to the core that leads"),
    lost: (core, { message }) => log.warn({ core, reason: message }, "a link to a core has ended"),
  });
}
