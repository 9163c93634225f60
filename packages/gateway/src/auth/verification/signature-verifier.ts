/**
 * Who checks signatures: the one thing on an order's way that is worth a core of its own.
 *
 * In: a session key, the exact bytes that were signed, a signature of 64 bytes. Out: whether it
 * holds, told later and never by the thread that answers clients.
 */

import type { SessionKey } from "../session-key.js";

/** Told once. An error is a fault of this process, never of the signature. */
export type SignatureVerdict = (error: Error | null, isValid: boolean) => void;

export interface SignatureVerifier {
  verify(key: SessionKey, body: Uint8Array, signature: Uint8Array, verdict: SignatureVerdict): void;
}
