/** Metrics of a process, and the listener that serves them; without the rest of a gateway. */

export { MetricsServer } from "../http/metrics-server.js";
export { type MetricsPage, type MetricsSource, MetricsText } from "../http/metrics-text.js";
export { mergedMetrics } from "./merged.js";
export { gauged, gaugedBy, summed, summedBy } from "./registered.js";
