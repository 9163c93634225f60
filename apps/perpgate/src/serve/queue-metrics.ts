/** Metrics of the queues that an order passes: admission, signatures, the history; and of sign-ins. */

import type { Edge, ProofThread, ThreadVerifier } from "@perpgate/gateway";
import { gauged, summedBy } from "@perpgate/gateway/metrics";
import type { Venue } from "@perpgate/venue";
import type { Registry } from "prom-client";

export interface EdgeQueues {
  readonly edge: Edge;
  readonly signatures: ThreadVerifier;
  readonly proofs: ProofThread;
}

export function measureEdgeQueues(registry: Registry, queues: EdgeQueues): void {
  const { edge, signatures, proofs } = queues;
  gauged(
    registry,
    "perpgate_orders_in_flight",
    "Orders admitted over any transport and not answered yet; at most limits.pendingOrders.",
    () => edge.admission.inFlight,
  );
  gauged(registry, "perpgate_signatures_waiting", "Signatures that wait for a verdict.", () => {
    return signatures.waiting;
  });
  summedBy(
    registry,
    "perpgate_signatures_total",
    "Signatures checked by a dedicated thread, by the event loop, or by libuv's pool.",
    "checker",
    () => Object.entries(signatures.accepted),
  );
  gauged(registry, "perpgate_sign_ins_waiting", "Sign-ins that wait for their proof.", () => {
    return proofs.waitingCount;
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
