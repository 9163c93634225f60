/**
 * Metrics of a venue's deposits: open ones and their age, the last request and vote of each attestor,
 * what is paused, and the reorg alarm. Gauges are computed when they are read, at a constant cost.
 */

import type { ChainBridgeConfig } from "@perpgate/bridge";
import {
  type Applied,
  type Attestation,
  reservesDifference,
  type Venue,
  type VenueLogger,
} from "@perpgate/venue";
import { Counter, Gauge, type Registry } from "prom-client";
import type { VenueDeposits } from "./venue-deposits.js";

export function measureBridge(
  registry: Registry,
  venue: Venue,
  deposits: VenueDeposits,
  { chains }: Pick<ChainBridgeConfig, "chains">,
): void {
  const registers = [registry];
  const { attestation } = venue.views;
  new Gauge({
    name: "perpgate_deposits_open",
    help: "Deposits that are neither credited nor rejected; seen: an attestor found it on its chain.",
    labelNames: ["chain", "state"],
    registers,
    collect() {
      for (const { chain } of chains) {
        const { seen, unseen } = attestation.openOn(chain);
        this.set({ chain, state: "seen" }, seen);
        this.set({ chain, state: "unseen" }, unseen);
      }
    },
  });
  new Gauge({
    name: "perpgate_deposits_oldest_seen_seconds",
    help: "How long ago the oldest open deposit that was seen on its chain was registered.",
    labelNames: ["chain"],
    registers,
    collect() {
      for (const { chain } of chains) {
        const { oldestSeenAtMs } = attestation.openOn(chain);
        const ageMs = oldestSeenAtMs === null ? 0 : Math.max(0, venue.nowMs() - oldestSeenAtMs);
        this.set({ chain }, ageMs / 1_000);
      }
    },
  });
  new Gauge({
    name: "perpgate_withdrawals_oldest_seconds",
    help: "How long ago the oldest open withdrawal of each status was asked for; 0: none.",
    labelNames: ["chain", "status"],
    registers,
    collect() {
      for (const { chain } of chains) {
        for (const status of ["queued", "attested", "pending"] as const) {
          const atMs = venue.views.oldestWithdrawalMs(chain, status);
          const ageMs = atMs === undefined ? 0 : Math.max(0, venue.nowMs() - atMs);
          this.set({ chain, status }, ageMs / 1_000);
        }
      }
    },
  });
  new Gauge({
    name: "perpgate_reserves_alarms",
    help: "ALARM: commitments to what the venue owes that this process does not count, or could not make.",
    registers,
    collect() {
      const { differing = 0, uncountable = 0 } = venue.reserves ?? {};
      this.set(differing + uncountable);
    },
  });
  const perAttestor = (name: string, help: string, times: () => ReadonlyMap<number, number>) =>
    new Gauge({
      name,
      help,
      labelNames: ["attestor"],
      registers,
      collect() {
        // `perpgate configure` may have removed members.
        this.reset();
        for (const attestor of deposits.keys.members.keys()) {
          this.set({ attestor }, (times().get(attestor) ?? 0) / 1_000);
        }
      },
    });
  perAttestor(
    "perpgate_attestor_last_vote_timestamp_seconds",
    "When the attestor signed its latest vote, Unix seconds; 0 if it never voted.",
    () => attestation.lastVoteTimes,
  );
  perAttestor(
    "perpgate_attestor_last_request_timestamp_seconds",
    "When the attestor last asked for work since this start, Unix seconds; 0 if it did not.",
    () => deposits.lastAsked,
  );
  new Gauge({
    name: "perpgate_deposits_paused",
    help: "Chains and tokens whose deposits the operator has paused.",
    registers,
    collect() {
      this.set(attestation.paused.length);
    },
  });
}

/** What a quorum of attestors has seen in the vaults, against what the venue owes. */
export function measureReserves(
  registry: Registry,
  venue: Venue,
  attestation: Pick<Attestation, "holdings">,
): void {
  new Gauge({
    name: "perpgate_reserves_difference_dollars",
    help: "What the vaults hold above what the venue owes, below zero if they hold less; NaN while it is not known.",
    registers: [registry],
    collect() {
      this.set(reservesDifference(venue, attestation.holdings()) ?? Number.NaN);
    },
  });
  new Gauge({
    name: "perpgate_reserves_unknown_vaults",
    help: "Tokens of vaults of which no quorum of attestors states what is held, while withdrawals are taken.",
    registers: [registry],
    collect() {
      const unknown = attestation.holdings().filter(({ holds }) => holds === null);
      this.set(venue.views.withdrawalRules === null ? 0 : unknown.length);
    },
  });
}

/**
 * The venue's alarm: a quorum has voted that the transaction of a credited deposit left its chain.
 * Attestors raise their own where they run.
 */
export function watchReorgs(venue: Venue, log: VenueLogger, registry: Registry): void {
  const reorged = new Counter({
    name: "perpgate_deposits_reorged_total",
    help: "ALARM: credited deposits that a quorum of attestors marked as reorganised away.",
    registers: [registry],
  });
  const counted = new Set<number>();
  venue.observe({
    onCommand: ({ command, events, seq: position }) => {
      if (!mayMark(command)) return;
      for (const event of events.decode()) {
        if (event.kind !== "DepositReorged") continue;
        const { depositId } = event;
        // Each vote beyond the quorum marks it again.
        if (counted.has(depositId)) continue;
        if (counted.size === MAX_COUNTED) counted.clear();
        counted.add(depositId);
        reorged.inc();
        const reason = venue.views.attestation.subject(depositId, 0)?.reorged;
        const fields = { depositId, reason, position };
        log.error(fields, "ALARM: a credited deposit was marked as reorged");
      }
    },
  });
}

const MAX_COUNTED = 10_000;

/** A vote marks a deposit, and so does a smaller quorum, which counts the votes again. */
function mayMark(command: Applied["command"]): boolean {
  if (command.kind === "AttestDeposit") return command.verdict === "reorged";
  return command.kind === "Configure" || command.kind === "PauseDeposits";
}
