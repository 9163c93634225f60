/**
 * How many headers a request may have.
 *
 * Node drops headers beyond a count without a word, so a client could hide those that a proxy in
 * front of this process has added, and with them that there is a proxy at all. Node is set to keep
 * one more than is allowed: a request that shows it had too many, and is refused before anything is
 * read from its headers. Bytes are bounded apart from this, by Node's 16 KiB.
 */

import type { IncomingMessage } from "node:http";
import { ApiError } from "@perpgate/protocol";

/** Browsers send about 20, and proxies add some. */
export const MAX_HEADERS = 100;
/** For `server.maxHeadersCount`. */
export const KEPT_HEADERS = MAX_HEADERS + 1;

export function hasTooManyHeaders({ rawHeaders }: IncomingMessage): boolean {
  // Names and values take turns.
  return rawHeaders.length > 2 * MAX_HEADERS;
}

export function tooManyHeaders(): ApiError {
  return new ApiError("headers_too_large", {}, { details: { maxHeaders: MAX_HEADERS } });
}
