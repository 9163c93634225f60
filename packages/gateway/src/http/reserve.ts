/**
 * Which requests may draw on the reserve of an address that is over its budget: cancels, and orders,
 * of a live session. An order that turns out not to reduce waits in its operation.
 */

import type { IncomingMessage } from "node:http";
import { requireLiveSession } from "../operations/handler.js";
import { bearerTokenOf } from "./bearer-token.js";
import type { GatewayContext } from "./context.js";

const EXITS = /^\/v1\/orders(?:$|\/(?:cancel-all|cancel-after|[0-9]{1,16}\/cancel)$)/;

export function mayUseReserve({ method, url, headers }: IncomingMessage, context: GatewayContext) {
  if (method !== "POST" || !EXITS.test(url ?? "")) return false;
  try {
    requireLiveSession(bearerTokenOf(headers.authorization), () => undefined, context);
    return true;
  } catch {
    return false;
  }
}
