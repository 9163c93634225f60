/**
 * A message of the socket as a call of the REST operation that means the same: one code path judges
 * shape, limits, nonce and signature, whichever way an order came.
 */

import type { RawCall } from "../../http/operation.js";
import type { SocketCall } from "./operation.js";

const NO_BODY = new Uint8Array(0);

export interface RestParts {
  readonly params?: object;
  readonly body?: unknown;
  readonly bodyBytes?: Uint8Array;
  readonly signature?: string;
}

export interface RestCall {
  readonly raw: RawCall;
  /** Headers that the answer would have carried. */
  readonly headers: ReadonlyMap<string, string>;
}

export function restCall(
  { connection, receivedAt }: SocketCall<unknown>,
  { params = {}, body, bodyBytes = NO_BODY, signature }: RestParts,
): RestCall {
  const headers = new Map<string, string>();
  const raw: RawCall = {
    params,
    query: {},
    body,
    bodyBytes,
    signature,
    bearerToken: connection.session?.token,
    client: {
      address: connection.address,
      isForwarded: false,
      header: (name, value) => void headers.set(name, value),
      elapsedMs: () => Math.round((performance.now() - receivedAt) * 1_000) / 1_000,
    },
  };
  return { raw, headers };
}
