/** Errors sent without Fastify: to Node's response, or to a bare socket, which is then closed. */

import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, POSITION_HEADER } from "@perpgate/protocol/core";
import type { RefusalCounts } from "../metrics/refusal-counts.js";
import type { LogProgress } from "./log-position.js";
import { newRequestId } from "./request-id.js";

const JSON_TYPE = "application/json; charset=utf-8";

/**
 * For `server.maxHeadersCount`: Node refuses a request with more, so no client can push out the headers
 * that a proxy adds. Browsers send about 20, and proxies add some. Node bounds their bytes to 16 KiB.
 */
export const MAX_HEADERS = 100;

export function refuseDirectly(
  { response }: { readonly response: ServerResponse },
  error: ApiError,
  {
    refusals,
    progress,
  }: { readonly refusals: RefusalCounts; readonly progress: LogProgress | undefined },
): void {
  refusals.onHttp(error);
  const requestId = newRequestId();
  const body = JSON.stringify(error.toBody(requestId));
  const retryAfter = retryAfterOf(error);
  response.writeHead(error.status, {
    "x-request-id": requestId,
    "content-type": JSON_TYPE,
    "content-length": Buffer.byteLength(body),
    ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }),
    ...(progress === undefined ? {} : { [POSITION_HEADER]: String(progress.position) }),
    connection: "close",
  });
  response.end(body);
}

/** Refuses a request with an `Upgrade` header. */
export function refuseUpgrade(socket: Duplex, error: ApiError, refusals?: RefusalCounts): void {
  refusals?.onHttp(error);
  const requestId = newRequestId();
  const retryAfter = retryAfterOf(error);
  const retryLine = retryAfter === undefined ? "" : `retry-after: ${retryAfter}\r\n`;
  // Node no longer handles errors of the socket: a reset would end the process.
  socket.on("error", () => socket.destroy());
  socket.once("finish", () => socket.destroy());
  socket.end(responseText(error, requestId, `x-request-id: ${requestId}\r\n${retryLine}`));
}

/** Answers bytes that are not a request: not HTTP, headers too large or too slow. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  // A peer that never reads or closes must not keep the socket open.
  const text = responseText(clientErrorOf(error), newRequestId(), "");
  socket.end(text, () => socket.destroy());
}

function clientErrorOf({ code }: NodeJS.ErrnoException): ApiError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("request_timeout", {});
    case "HPE_HEADER_OVERFLOW":
      return new ApiError("headers_too_large", {}, { details: { maxHeaders: MAX_HEADERS } });
    default:
      return new ApiError("malformed_request", { problem: "it cannot be parsed" });
  }
}

function responseText(error: ApiError, requestId: string, headerLines: string): string {
  const body = JSON.stringify(error.toBody(requestId));
  return (
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? "Error"}\r\n` +
    `content-type: ${JSON_TYPE}\r\n` +
    `content-length: ${Buffer.byteLength(body)}\r\n` +
    `${headerLines}connection: close\r\n\r\n${body}`
  );
}

/** In seconds; every 429 has `retryAfterMs`. */
export function retryAfterOf({ details }: ApiError): string | undefined {
  const retryAfterMs = details?.retryAfterMs;
  if (typeof retryAfterMs !== "number") return undefined;
  return String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
}
