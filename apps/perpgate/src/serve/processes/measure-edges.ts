import { gauged, summedBy } from "@perpgate/gateway/metrics";
import type { Registry } from "prom-client";
import type { Edges } from "./edges.js";

export function measureEdges(registry: Registry, edges: Edges): void {
  gauged(registry, "perpgate_edges_listening", "Edges that accept clients.", () => edges.running);
  summedBy(
    registry,
    "perpgate_edge_restarts_total",
    "Edges that ended and were started again.",
    "edge",
    () => edges.restarts,
  );
}
