/**
 * Requests that ask to leave HTTP. Node hands every request with an `Upgrade` header over once anyone
 * listens for them, with its connection and no reply object:
 *
 *   to the stream's path, asking for a WebSocket   becomes a socket
 *   to the stream's path, asking for anything else is refused
 *   to any other path                              is served as if it had not asked
 *
 * The last matters: HTTP clients that know HTTP/2 (Java's among them) offer `h2c` on every request,
 * and RFC 9110 lets a server ignore the offer.
 */

import { type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { ApiError } from "@perpgate/protocol";
import { newRequestId } from "../http/request-id.js";

const STREAM_PATH = /^\/ws\/v1\/?(?:\?|$)/;
/** What made the request an upgrade. */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(["upgrade", "connection", "http2-settings"]);

export function isStreamPath(url: string | undefined): boolean {
  return url !== undefined && STREAM_PATH.test(url);
}

/** Answers by hand, in the one shape of errors, and closes. */
export function refuseUpgrade(socket: Duplex, refusal: ApiError): void {
  const requestId = newRequestId();
  const body = JSON.stringify(refusal.toBody(requestId));
  // Node has let go of the socket: a reset while it is written to would end the process.
  socket.on("error", () => socket.destroy());
  socket.once("finish", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? "Error"}\r\n` +
      "content-type: application/json; charset=utf-8\r\n" +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\n${retryAfterOf(refusal)}` +
      `connection: close\r\n\r\n${body}`,
  );
}

/** The header's line, where the refusal says when to come again, as every 429 does. */
function retryAfterOf({ details }: ApiError): string {
  const retryAfterMs = details?.retryAfterMs;
  if (typeof retryAfterMs !== "number") return "";
  return `retry-after: ${Math.max(1, Math.ceil(retryAfterMs / 1_000))}\r\n`;
}

/** Gives the request back to the server without its offer to upgrade. */
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
