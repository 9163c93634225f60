/**
 * A bound on the number of headers.
 *
 * Node silently drops headers beyond `maxHeadersCount`, so a client could push out those that a proxy
 * adds. Node is set to keep one more than allowed; a request with that many is refused before any header
 * is used. Node bounds their bytes to 16 KiB.
 */

import type { IncomingMessage } from "node:http";
import { ApiError } from "@perpgate/protocol/core";

/** Browsers send about 20, and proxies add some. */
export const MAX_HEADERS = 100;
/** For `server.maxHeadersCount`. */
export const KEPT_HEADERS = MAX_HEADERS + 1;

export function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  // Alternating names and values.
  return rawHeaders.length > 2 * MAX_HEADERS;
}

export function tooManyHeaders(): ApiError {
  return new ApiError("headers_too_large", {}, { details: { maxHeaders: MAX_HEADERS } });
}
