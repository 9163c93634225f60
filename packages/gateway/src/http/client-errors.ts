/**
 * Requests that never became one: bytes that are not HTTP, headers too large or too slow.
 *
 * Node reports them on the bare socket, before there is a request or a reply, so the answer is
 * written by hand here, in the same shape as every other error, and the connection is closed.
 */

import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ApiError } from "@perpgate/protocol";
import { newRequestId } from "./request-id.js";

export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOfClientError(error);
  const body = JSON.stringify(refusal.toBody(newRequestId()));
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? "Error"}\r\n` +
      "content-type: application/json; charset=utf-8\r\n" +
      `content-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: close\r\n\r\n${body}`,
    // A peer that never reads or never closes must not hold the socket open.
    () => socket.destroy(),
  );
}

function refusalOfClientError(error: NodeJS.ErrnoException): ApiError {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new ApiError("request_timeout", {});
    case "HPE_HEADER_OVERFLOW":
      return new ApiError("headers_too_large", {});
    default:
      return new ApiError("malformed_request", { problem: "it cannot be parsed" });
  }
}
