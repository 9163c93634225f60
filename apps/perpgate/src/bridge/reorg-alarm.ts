/**
 * The venue's own alarm: a quorum has said that a credited deposit's transaction left its chain.
 * Attestors raise theirs where they run; this one sounds wherever the venue does.
 */

import type { Venue, VenueLogger } from "@perpgate/venue";
import { Counter, type Registry } from "prom-client";

export function watchReorgs(venue: Venue, log: VenueLogger, registry: Registry): void {
  const reorged = new Counter({
    name: "perpgate_deposits_reorged_total",
    help: "ALARM: credited deposits that a quorum of attestors marked as reorganised away.",
    registers: [registry],
  });
  venue.observe({
    onCommand: ({ command, events, seq: position }) => {
      if (command.kind !== "AttestDeposit" || command.verdict !== "reorged") return;
      const isMarked = events.decode().some(({ kind }) => kind === "DepositReorged");
      if (!isMarked) return;
      reorged.inc();
      const { depositId, reason } = command;
      log.error({ depositId, reason, position }, "ALARM: a credited deposit was marked as reorged");
    },
  });
}
