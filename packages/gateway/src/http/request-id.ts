/** Request ids: the client's own if it is short and plain, which keeps log lines readable. */

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

/** The client's id, or a new one if it is not acceptable. */
export function saneRequestId(offered: string | undefined): string {
  return offered !== undefined && SANE_ID.test(offered) ? offered : newRequestId();
}
