/**
 * The separate listener for metrics.
 *
 * If a configured port is in use, the start fails. The default is the usual port of Prometheus
 * exporters; if it is in use, for example by a second venue, a free port is chosen, and the banner and
 * the log name it.
 */

import { MetricsServer, type MetricsText } from "@perpgate/gateway";
import type { Logger } from "pino";
import { codeOf, reasonOf, StartError } from "../cli/start-error.js";
import { type Settings, USUAL_METRICS_PORT } from "./settings.js";

/** Undefined if the settings turn it off. */
export async function listenForMetrics(
  { metrics: { host, port }, port: mainPort }: Pick<Settings, "metrics" | "port">,
  text: MetricsText,
  log: Logger,
): Promise<MetricsServer | undefined> {
  if (port === false) return undefined;
  // With --port 0 a free port is meant here too, as in tests.
  const wanted = port ?? (mainPort === 0 ? 0 : USUAL_METRICS_PORT);
  try {
    return await MetricsServer.listen(text, { host, port: wanted });
  } catch (error) {
    const isInUse = codeOf(error) === "EADDRINUSE";
    if (port === undefined && isInUse) {
      log.warn({ port: wanted }, "the metrics' port is taken; a free one is used");
      return MetricsServer.listen(text, { host, port: 0 });
    }
    throw new StartError(
      isInUse
        ? `port ${wanted} on ${host} is taken; choose another as "metrics.port"`
        : `cannot listen for metrics on ${host}:${wanted}: ${reasonOf(error)}`,
    );
  }
}
