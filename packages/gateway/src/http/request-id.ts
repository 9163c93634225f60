/** Request ids: the client's own if it is a plain short word, so that logs stay one line each. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

const SANE_ID = /^[A-Za-z0-9._-]{1,64}$/;

export function newRequestId(): string {
  return randomUUID();
}

export function requestIdOf(request: IncomingMessage): string {
  const offered = request.headers["x-request-id"];
  return typeof offered === "string" && SANE_ID.test(offered) ? offered : newRequestId();
}
