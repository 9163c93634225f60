/**
 * The ports of a start: they are tried before anything is made, so that a taken one leaves neither a
 * data folder nor a log key behind.
 */

import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { codeOf, reasonOf, StartError } from "../cli/start-error.js";
import { type Settings, USUAL_METRICS_PORT } from "./settings.js";

/** With `--port 0` a free one is meant here too, as in tests. */
export function metricsPortOf({
  metrics,
  port,
}: Pick<Settings, "metrics" | "port">): number | false {
  return metrics.port ?? (port === 0 || port === USUAL_METRICS_PORT ? 0 : USUAL_METRICS_PORT);
}

/** Tries both ports together: one cannot be the other. @throws {StartError} */
export async function refuseTakenPorts(settings: Settings): Promise<void> {
  const { host, port, metrics } = settings;
  const main = await listenAt(host, port).catch((error) => {
    throw mainPortError(settings, error);
  });
  try {
    // If the usual port is taken, a free one is used.
    if (metrics.port === undefined || metrics.port === false) return;
    await closed(await listenAt(metrics.host, metrics.port));
  } catch (error) {
    throw metricsPortError(settings, error);
  } finally {
    await closed(main);
  }
}

/** Why nothing can listen there; undefined if something can. */
export function listenProblem(host: string, port: number): Promise<unknown> {
  return listenAt(host, port).then(closed, (error: unknown) => error);
}

async function listenAt(host: string, port: number): Promise<Server> {
  const server = createServer().listen({ host, port });
  await once(server, "listening");
  return server;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

export function mainPortError({ host, port }: Settings, error: unknown): StartError {
  return new StartError(
    codeOf(error) === "EADDRINUSE"
      ? `port ${port} on ${host} is taken; choose another with --port`
      : `cannot listen on ${host}:${port}: ${reasonOf(error)}`,
  );
}

export function metricsPortError(
  settings: Pick<Settings, "metrics" | "port">,
  error: unknown,
): StartError {
  const [{ host }, port] = [settings.metrics, metricsPortOf(settings)];
  return new StartError(
    codeOf(error) === "EADDRINUSE"
      ? `port ${port} on ${host} is taken; choose another as "metrics.port"`
      : `cannot listen for metrics on ${host}:${port}: ${reasonOf(error)}`,
  );
}
