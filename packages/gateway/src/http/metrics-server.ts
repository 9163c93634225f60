/**
 * `/metrics` on a separate listener, without access control; on loopback by default.
 *
 * A connection gets one response and is closed, and at most `MAX_CONNECTIONS` are open, so that slow
 * clients cannot make the process buffer more than as many copies of the text.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ErrorBody } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { MetricsPage } from "./metrics-text.js";
import { newRequestId } from "./request-id.js";

interface MetricsAddress {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

const MAX_CONNECTIONS = 16;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
const MAX_HEADER_BYTES = 8_192;

export class MetricsServer {
  private constructor(
    private readonly server: Server,
    /** Including the path. */
    readonly url: string,
  ) {}

  /** @throws an error with the system's code, such as `EADDRINUSE` */
  static async listen(text: MetricsPage, address: MetricsAddress): Promise<MetricsServer> {
    const server = createServer(
      {
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: CHECK_INTERVAL_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      (request, response) => void answer(text, request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    server.maxRequestsPerSocket = 1;
    server.setTimeout(REQUEST_TIMEOUT_MS);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(address, resolve);
    });
    return new MetricsServer(server, urlOf(server));
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
  }
}

async function answer(
  text: MetricsPage,
  { method, url = "" }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.shouldKeepAlive = false;
  try {
    if (url.split("?", 1)[0] !== "/metrics") throw new ApiError("not_found", { path: url });
    if (method !== "GET" && method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      throw new ApiError("method_not_allowed", { method: method ?? "", allowed: "GET, HEAD" });
    }
    const body = await text.read();
    response.setHeader("content-type", text.contentType);
    response.setHeader("content-length", body.length);
    response.end(method === "HEAD" ? undefined : body);
  } catch (error) {
    const apiError = error instanceof ApiError ? error : new ApiError("internal_error", {});
    const body: ErrorBody = apiError.toBody(newRequestId());
    response.statusCode = apiError.status;
    response.setHeader("content-type", "application/json; charset=utf-8");
    response.end(JSON.stringify(body));
  }
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}/metrics`;
}
