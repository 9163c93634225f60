/** Request ids: the client's own if it is a plain short word, so that logs stay one line each. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const SANE_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function newRequestId(): string {
  return randomUUID();
}

export function requestIdOf(request: IncomingMessage): string {
  const offered = request.headers["x-request-id"];
  return saneRequestId(typeof offered === "string" ? offered : undefined);
}

/** The id that a client offers, or a new one in its place. */
export function saneRequestId(offered: string | undefined): string {
  return offered !== undefined && SANE_ID.test(offered) ? offered : newRequestId();
}
