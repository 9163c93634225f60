/** What limits, authentication and the venue's operations need to know of a request and its sender. */

import type { BearerToken } from "./auth/session-token.js";

/** Adds a header to the response, whether it succeeds or not. */
export type HeaderSink = (name: string, value: string) => void;

/** The sender of a request, before any token is checked. */
export interface Client {
  /** The peer's address, or the one that a trusted proxy forwards. */
  readonly address: string;
  /** Whether the request carries the headers of a proxy. */
  readonly isForwarded: boolean;
  readonly header: HeaderSink;
}

/** The sender of a bearer token, which need not belong to a live session. */
export interface Caller {
  readonly bearerToken: BearerToken;
  readonly header: HeaderSink;
  /** Charges microseconds of work whose cost is known only now to the sender's address and account. */
  readonly charge?: (micros: number) => void;
  /** Charges the work units of a command that took more of the engine than an ordinary one. */
  readonly chargeWork?: (units: number) => void;
  /** Whether the request has been counted against its limit: it runs a second time. */
  readonly isCounted?: boolean;
}

/** A body and the bytes it was parsed from: the signature covers the bytes. */
export interface Signed<Body> {
  readonly body: Body;
  readonly bytes: Uint8Array;
  /** The `X-Service-Sig` header as sent; undefined if missing. */
  readonly signature: string | undefined;
}
