/**
 * The separate listener for metrics.
 *
 * If a configured port is in use, the start fails. The default is the usual port of Prometheus
 * exporters; if it is in use, for example by a second venue, a free port is chosen, and the banner and
 * the log name it.
 */

import { type MetricsPage, MetricsServer } from "@perpgate/gateway/metrics";
import type { Logger } from "pino";
import { codeOf } from "../cli/start-error.js";
import { metricsPortError, metricsPortOf } from "./ports.js";
import type { Settings } from "./settings.js";

/** Undefined if the settings turn it off. */
export async function listenForMetrics(
  settings: Pick<Settings, "metrics" | "port">,
  text: MetricsPage,
  log: Logger,
): Promise<MetricsServer | undefined> {
  const { host, port: given } = settings.metrics;
  const port = metricsPortOf(settings);
  if (port === false) return undefined;
  try {
    return await MetricsServer.listen(text, { host, port });
  } catch (error) {
    if (given === undefined && codeOf(error) === "EADDRINUSE") {
      log.warn({ port }, "the metrics' port is taken; a free one is used");
      return MetricsServer.listen(text, { host, port: 0 });
    }
    throw metricsPortError(settings, error);
  }
}
