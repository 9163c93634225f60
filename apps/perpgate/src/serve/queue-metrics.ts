/** Metrics of what an order passes: admission, its signature, the link to a core, the history. */

import type { Edge } from "@perpgate/gateway";
import { gauged, summed } from "@perpgate/gateway/metrics";
import type { CoreRouter } from "@perpgate/link";
import type { Venue } from "@perpgate/venue";
import type { Registry } from "prom-client";

export function measureEdgeQueues(registry: Registry, edge: Edge, router: CoreRouter): void {
  gauged(
    registry,
    "perpgate_edge_linked",
    "Whether a core leads that this edge is linked to.",
    () => (router.leader === undefined ? 0 : 1),
  );
  gauged(
    registry,
    "perpgate_orders_in_flight",
    "Orders admitted over any transport and not answered yet; at most limits.pendingOrders.",
    () => edge.admission.inFlight,
  );
  summed(registry, "perpgate_signatures_total", "Signatures of session keys checked.", () => {
    return edge.signatures.count;
  });
}

export function measureHistoryQueue(registry: Registry, venue: Venue): void {
  gauged(
    registry,
    "perpgate_history_commands_waiting",
    "Commands that are applied and whose history is not on disk yet.",
    () => Math.max(0, venue.history.seq - venue.history.durable.position),
  );
}
