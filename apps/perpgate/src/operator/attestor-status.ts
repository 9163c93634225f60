/** Metrics, health and readiness of `perpgate attest`, on the address of `metrics.host`. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AttestorHealth } from "@perpgate/bridge";
import type { Registry } from "prom-client";
import { codeOf, reasonOf, StartError } from "../cli/start-error.js";

const DEFAULT_PORT = 9_465;

/** On the given port, else on the default one, else on a free one. Returns the address. */
export async function serveAttestorStatus(
  host: string,
  port: number | undefined,
  metrics: Registry,
  health: Pick<AttestorHealth, "notReadyReason">,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(request, response, metrics, health);
  });
  try {
    await listen(server, host, port ?? DEFAULT_PORT);
  } catch (error) {
    if (port !== undefined || codeOf(error) !== "EADDRINUSE") {
      throw new StartError(`cannot serve metrics: ${reasonOf(error)}`);
    }
    await listen(server, host, 0);
  }
  // The attestors keep the process alive.
  server.unref();
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`;
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}

async function answer(
  { url }: IncomingMessage,
  response: ServerResponse,
  metrics: Registry,
  health: Pick<AttestorHealth, "notReadyReason">,
): Promise<void> {
  switch (url) {
    case "/metrics":
      response.setHeader("content-type", metrics.contentType);
      response.end(await metrics.metrics());
      return;
    case "/healthz":
      sendJson(response, 200, { status: "ok" });
      return;
    case "/readyz": {
      const reason = health.notReadyReason();
      if (reason === undefined) sendJson(response, 200, { status: "ready" });
      else sendJson(response, 503, { status: "not ready", reason });
      return;
    }
    default:
      sendJson(response, 404, { status: "not found" });
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
