/** A refusal written to Node's response, where no route and no framework is involved. */

import type { ServerResponse } from "node:http";
import type { ApiError } from "@perpgate/protocol";
import { newRequestId } from "./request-id.js";

export function refuseDirectly(
  { response }: { readonly response: ServerResponse },
  refusal: ApiError,
): void {
  const requestId = newRequestId();
  const body = JSON.stringify(refusal.toBody(requestId));
  response.writeHead(refusal.status, {
    "x-request-id": requestId,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...retryAfterOf(refusal),
    connection: "close",
  });
  response.end(body);
}

/** Every 429 says when to come again. */
export function retryAfterOf({ details }: ApiError): { "retry-after"?: string } {
  const retryAfterMs = details?.retryAfterMs;
  if (typeof retryAfterMs !== "number") return {};
  return { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
}
