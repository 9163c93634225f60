/**
 * A message of the socket as a call of the REST operation that means the same: one code path judges
 * shape, limits, nonce and signature, whichever way an order came.
 */

import { ApiError } from "@perpgate/protocol";
import type { RawCall } from "../../http/operation.js";
import type { SocketCall } from "../socket-call.js";

const NO_BYTES = new Uint8Array(0);
const NOTHING: Readonly<Record<string, never>> = {};

/** The order that `text` spells: what POST /v1/orders would have read from these bytes. */
export function orderCall(
  call: SocketCall,
  body: unknown,
  bodyBytes: Uint8Array,
  signature: string,
): RawCall {
  return {
    params: NOTHING,
    query: NOTHING,
    body,
    bodyBytes,
    signature,
    bearerToken: call.connection.session?.token,
    client: call,
  };
}

/** An operation whose path alone says what is meant. */
export function pathCall(call: SocketCall, params: object): RawCall {
  return {
    params,
    query: NOTHING,
    body: undefined,
    bodyBytes: NO_BYTES,
    signature: undefined,
    bearerToken: call.connection.session?.token,
    client: call,
  };
}

/** The account that the socket speaks for, or `token_required`. */
export function requireSession({ connection: { session } }: SocketCall): number {
  if (session === undefined) throw new ApiError("token_required", {});
  return session.account;
}
