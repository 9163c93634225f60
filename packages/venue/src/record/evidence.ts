/**
 * What proves that a command was authorised, kept beside it in the log so that anyone can check
 * every order again from the log alone. The engine never sees it.
 */

export interface Evidence {
  /** The exact bytes that were signed: an order's body, a sign-in message, a rotation's body. */
  readonly signed: Uint8Array;
  /** The signature as verified, decoded from its wire form. */
  readonly signature: Uint8Array;
  /** The public key that a sign-in or rotation introduces, as bytes; empty for orders. */
  readonly publicKey: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** For commands that nobody signs: ticks, index prices, reads of the operator. */
export const NO_EVIDENCE: Evidence = { signed: NOTHING, signature: NOTHING, publicKey: NOTHING };
