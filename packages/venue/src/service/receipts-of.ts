/** Receipts of acknowledgements, with the leaf whose hash they sign. */

import type { CanceledOrder, LoggedAcknowledgement } from "@perpgate/protocol";
import type { KeptApplied } from "../replica.js";
import type { Venue } from "../venue.js";

/** A receipt, and the leaf whose hash it signs, both in base64url. */
interface Issued {
  readonly receipt: string;
  readonly leaf: string;
}

/** An answer with its receipt, if the venue issues receipts. */
export type Receipted<A> = A & Partial<Issued>;
export type ReceiptedAck = Receipted<LoggedAcknowledgement>;

/** What a leaf proves; a cancel under version 2, which has none, is without its number. */
type Answer = LoggedAcknowledgement | CanceledOrder;

/**
 * Inside the apply callback of a command that was acknowledged: calls back with the acknowledgement and
 * its receipt; without one if the venue issues none, or stops. `digest`: SHA-256 of the signed body.
 */
export function withReceipt<A extends Answer>(
  { promises, views }: Venue,
  applied: KeptApplied,
  ack: A,
  digest: () => Uint8Array,
  onReceipted: (ack: Receipted<A>) => void,
): void {
  const receipts = promises?.receipts ?? null;
  if (receipts === null || ack.ackNonce === undefined) onReceipted(ack);
  else receipts.issue(applied, digest(), added(ack, views.leafIn(applied), onReceipted));
}

/** As `withReceipt`, for the acknowledgement of an earlier command: what it states was true then. */
export function withReceiptAgain<A extends Answer>(
  { promises, views }: Venue,
  seq: number,
  ack: A,
  onReceipted: (ack: Receipted<A>) => void,
): void {
  const receipts = promises?.receipts ?? null;
  if (receipts === null || ack.ackNonce === undefined) onReceipted(ack);
  else receipts.reissue(seq, added(ack, views.leafAt(seq), onReceipted));
}

/** Adds the receipt in place: the acknowledgement was made for this answer. */
function added<A extends Answer>(ack: A, leaf: string, onReceipted: (ack: Receipted<A>) => void) {
  return (receipt: string | undefined): void => {
    onReceipted(receipt === undefined ? ack : Object.assign(ack, { receipt, leaf }));
  };
}
