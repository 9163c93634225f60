/**
 * Verifies signatures of 64 bytes over exact bytes, outside the event loop's thread unless the loop has
 * nothing else to do: it is the most expensive step of an order.
 */

import type { SessionKey } from "../session-key.js";

/** Called once, perhaps before `verify` returns. An error is a fault of this process, never of the signature. */
export type SignatureVerdict = (error: Error | null, isValid: boolean) => void;

export interface SignatureVerifier {
  /** `isAlone`: no other request waits, so the event loop may check the signature itself. */
  verify(
    key: SessionKey,
    body: Uint8Array,
    signature: Uint8Array,
    verdict: SignatureVerdict,
    isAlone?: boolean,
  ): void;
}
