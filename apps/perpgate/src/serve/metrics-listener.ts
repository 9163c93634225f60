/**
 * The metrics' own listener, from the settings.
 *
 * A port that the operator chose is taken or the start fails. The customary port of Prometheus'
 * exporters is only a default: where another process has it, such as a second venue on the same
 * machine, a free one is picked, and banner and log say which.
 */

import { MetricsServer, type MetricsText } from "@perpgate/gateway";
import type { Logger } from "pino";
import { StartError } from "../cli/start-error.js";
import type { Settings } from "./settings.js";

const CUSTOMARY_PORT = 9464;

/** Undefined where the settings want none. */
export async function listenForMetrics(
  { metrics: { host, port }, port: mainPort }: Pick<Settings, "metrics" | "port">,
  text: MetricsText,
  log: Logger,
): Promise<MetricsServer | undefined> {
  if (port === false) return undefined;
  // A venue on a free port is one of several, as in tests: no customary port is meant for it.
  const wanted = port ?? (mainPort === 0 ? 0 : CUSTOMARY_PORT);
  try {
    return await MetricsServer.listen(text, { host, port: wanted });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (port === undefined && code === "EADDRINUSE") {
      log.warn({ port: wanted }, "the metrics' port is taken; a free one is used");
      return MetricsServer.listen(text, { host, port: 0 });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(
      code === "EADDRINUSE"
        ? `port ${wanted} on ${host} is taken; choose another as "metrics.port"`
        : `cannot listen for metrics on ${host}:${wanted}: ${reason}`,
    );
  }
}
