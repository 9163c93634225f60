/** Receipts of acknowledgements, with the leaf whose hash they sign. */

import type { LoggedAcknowledgement } from "@perpgate/protocol";
import type { Applied } from "../replica.js";
import type { Venue } from "../venue.js";

/** A receipt, and the leaf whose hash it signs, both in base64url. */
interface Issued {
  readonly receipt: string;
  readonly leaf: string;
}

/** An acknowledgement with its receipt, if the venue issues receipts. */
export type ReceiptedAck = LoggedAcknowledgement & Partial<Issued>;

type OnReceipted = (ack: ReceiptedAck) => void;

/**
 * Inside the apply callback of a command that was acknowledged: calls back with the acknowledgement and
 * its receipt; without one if the venue issues none, or stops. `digest`: SHA-256 of the signed body.
 */
export function withReceipt(
  { promises, views }: Venue,
  applied: Applied,
  ack: LoggedAcknowledgement,
  digest: () => Uint8Array,
  onReceipted: OnReceipted,
): void {
  const receipts = promises?.receipts ?? null;
  if (receipts === null) onReceipted(ack);
  else receipts.issue(applied, digest(), added(ack, views.leafIn(applied), onReceipted));
}

/** As `withReceipt`, for the acknowledgement of an earlier command: what it states was true then. */
export function withReceiptAgain(
  { promises, views }: Venue,
  seq: number,
  ack: LoggedAcknowledgement,
  onReceipted: OnReceipted,
): void {
  const receipts = promises?.receipts ?? null;
  if (receipts === null) onReceipted(ack);
  else receipts.reissue(seq, added(ack, views.leafAt(seq), onReceipted));
}

/** Adds the receipt in place: the acknowledgement was made for this answer. */
function added(ack: LoggedAcknowledgement, leaf: string, onReceipted: OnReceipted) {
  return (receipt: string | undefined): void => {
    onReceipted(receipt === undefined ? ack : Object.assign(ack, { receipt, leaf }));
  };
}
