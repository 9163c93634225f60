/** What limits, authentication and the venue's operations need to know of a request and its sender. */

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

/** A body and the bytes it was parsed from: the signature covers the bytes. */
export interface Signed<Body> {
  readonly body: Body;
  readonly bytes: Uint8Array;
  /** The `X-Service-Sig` header as sent; undefined if missing. */
  readonly signature: string | undefined;
}
