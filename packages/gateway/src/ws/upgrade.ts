/**
 * Requests with an `Upgrade` header. Node emits them as `upgrade` events with the raw connection:
 *
 *   to the stream's path, for a WebSocket      becomes a socket
 *   to the stream's path, for anything else    is refused
 *   to any other path                          is served as plain HTTP
 *
 * The last matters: HTTP clients with HTTP/2 (Java's among them) offer `h2c` on every request, and
 * RFC 9110 allows a server to ignore the offer.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "@perpgate/protocol/core";
import { SOCKET_PATH } from "@perpgate/protocol/operations";
import type { AllowedOrigins } from "../http/cors.js";

const STREAM_PATH = new RegExp(`^${SOCKET_PATH}/?(?:\\?|$)`);
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(["upgrade", "connection", "http2-settings"]);

export function isStreamPath(url: string | undefined): boolean {
  return url !== undefined && STREAM_PATH.test(url);
}

/** Puts the request back into the socket without its upgrade headers and passes it to HTTP. */
export function serveWithoutUpgrade(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  const { rawHeaders } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[i + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

const MAX_SHOWN_ORIGIN = 100;

/**
 * Throws `origin_not_allowed` for a page that may not call over HTTP either.
 *
 * Browsers open sockets to any origin without a preflight and leave the check of `Origin` to the server.
 * There are no cookies, so every origin is allowed by default. A request without `Origin` is not from a
 * page. The gateway's own page need not be listed, although browsers send `Origin` for its sockets.
 */
export function refuseForeignPage({ headers }: IncomingMessage, allowed: AllowedOrigins): void {
  const { origin, host } = headers;
  if (allowed === "*" || origin === undefined) return;
  if (allowed.includes(origin) || isOwnPage(origin, host)) return;
  throw new ApiError("origin_not_allowed", { origin: origin.slice(0, MAX_SHOWN_ORIGIN) });
}

/** Compares hosts with the scheme of the page: a proxy in front may terminate TLS. */
function isOwnPage(origin: string, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: pageHost } = new URL(origin);
  const own = `${protocol}//${host}`;
  return pageHost !== "" && URL.canParse(own) && new URL(own).host === pageHost;
}
