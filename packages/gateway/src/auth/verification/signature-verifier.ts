/**
 * Verifies signatures of 64 bytes over exact bytes, asynchronously and outside the event loop's thread: it
 * is the most expensive step of an order.
 */

import type { SessionKey } from "../session-key.js";

/** Called once. An error is a fault of this process, never of the signature. */
export type SignatureVerdict = (error: Error | null, isValid: boolean) => void;

export interface SignatureVerifier {
  verify(key: SessionKey, body: Uint8Array, signature: Uint8Array, verdict: SignatureVerdict): void;
}
