/**
 * Metrics of the venue: readiness, its log, pending commands, halted markets and free disk space. All
 * are computed when they are read, so that orders pay nothing for them.
 */

import { statfs } from "node:fs/promises";
import { gauged, gaugedBy, summed, summedBy } from "@perpgate/gateway/metrics";
import type { ReadinessProbe } from "@perpgate/link";
import type { Venue } from "@perpgate/venue";
import type { Registry } from "prom-client";

export function measureVenue(
  registry: Registry,
  venue: Venue,
  dataFolder: string,
  readiness: readonly ReadinessProbe[],
): void {
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    gauged(registry, name, help, read);
  gauge(
    "perpgate_ready",
    "1 while the venue runs and every market's index is fresh, as GET /readyz says.",
    () => (readiness.every((probe) => probe.notReadyReason() === undefined) ? 1 : 0),
  );
  gauge(
    "perpgate_log_position",
    "Position of the last command applied; it rises at least five times a second.",
    () => venue.seq,
  );
  gauge(
    "perpgate_engine_version",
    "The version of the engine's rules in force; perpgate upgrade raises it.",
    () => venue.views.engineVersion,
  );
  gauge(
    "perpgate_clock_lead_seconds",
    "How far the wall clock is ahead of the venue's time; negative: behind.",
    () => venue.clockLeadMs / 1_000,
  );
  gauge(
    "perpgate_commands_waiting",
    "Commands handed in and not yet answered; past limits.pendingOrders orders are refused.",
    () => venue.waiting,
  );
  gauge(
    "perpgate_history_rows_waiting",
    "Rows of history that are not on disk yet.",
    () => venue.history.backlog,
  );
  gauge(
    "perpgate_history_rebuilt_ratio",
    "How much of the history can be read: below 1 while it is rebuilt from the log.",
    () => (venue.history.isRebuilding ? venue.history.rebuilt : 1),
  );
  gauge(
    "perpgate_history_window_seconds",
    "How far back the rows of the history are kept: 0 while none was dropped.",
    () => {
      const before = venue.views.historyBefore;
      return before === undefined ? 0 : (venue.views.timeMs - before.time) / 1_000;
    },
  );
  gauge(
    "perpgate_history_tail_bytes",
    "Memory of those rows; past 256 MiB the process exits.",
    () => venue.history.tailBytes,
  );
  gauge(
    "perpgate_history_wal_bytes",
    "Size of the store's write-ahead file; it grows while another tool reads in one transaction.",
    () => venue.history.walBytes,
  );
  gauge(
    "perpgate_log_spare_missing",
    "1 while the next segment of the log could not be allocated; the venue stops when it needs it.",
    () => (venue.spareSegment.problem === undefined ? 0 : 1),
  );
  gauge(
    "perpgate_data_free_bytes",
    "Room left on the disk of the data folder; without any the venue stops.",
    // An error counts as no room, and must not fail the other metrics.
    () =>
      statfs(dataFolder).then(
        ({ bavail, bsize }) => bavail * bsize,
        () => 0,
      ),
  );
  summedBy(
    registry,
    "perpgate_clock_jumps_total",
    "Jumps of the wall clock since the start: followed, doubted, or back.",
    "kind",
    () => Object.entries(venue.clockJumps),
  );
  summed(
    registry,
    "perpgate_log_spare_failures_total",
    "Failed attempts to allocate the next segment of the log.",
    () => venue.spareSegment.failures,
  );
  const markets = () => venue.views.markets();
  gaugedBy(
    registry,
    "perpgate_market_halted",
    "1 for a market that is halted, by an invariant or by an operator.",
    ["symbol"],
    () => markets().map(({ symbol, status }) => [{ symbol }, status === "halted" ? 1 : 0]),
  );
  gaugedBy(
    registry,
    "perpgate_market_status",
    "1 for the status of each market: active, reduceOnly, halted, settling or settled.",
    ["symbol", "status"],
    () => markets().map(({ symbol, status }) => [{ symbol, status }, 1]),
  );
}
