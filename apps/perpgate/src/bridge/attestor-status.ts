/** Metrics, health and readiness of a process of attestors, on the loopback address alone. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AttestorHealth } from "@perpgate/bridge";
import type { Registry } from "prom-client";
import { StartError } from "../start-error.js";

/** Returns its address. */
export async function serveAttestorStatus(
  port: number,
  metrics: Registry,
  health: AttestorHealth,
): Promise<string> {
  const server = createServer((request, response) => {
    void answer(request, response, metrics, health);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(new StartError(`cannot serve metrics on port ${port}: ${error.message}`));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  // The attestors keep the process alive, not this.
  server.unref();
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return `http://127.0.0.1:${bound}`;
}

async function answer(
  { url }: IncomingMessage,
  response: ServerResponse,
  metrics: Registry,
  health: AttestorHealth,
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
