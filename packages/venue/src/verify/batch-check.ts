/**
 * Follows the operations of a signed batch through the log. The first record holds body and signature;
 * the others must follow it without a gap and be what the body says.
 */

import type { Listing } from "../listing/listing.js";
import type { Evidence } from "../record/record.js";
import { type BatchCommand, batchBodyOf, operationFault, type SignedBatch } from "./order-body.js";

interface OpenBatch {
  readonly first: number;
  readonly body: SignedBatch;
  readonly session: number;
  readonly key: string;
  /** Index of the operation that must come next. */
  next: number;
}

export class BatchCheck {
  private open: OpenBatch | null = null;

  /**
   * Called for every command that is no operation of a batch, and after the last command: why the last
   * batch is cut off, or null.
   */
  onOther(): string | null {
    const { open } = this;
    this.open = null;
    if (open === null || open.next >= open.body.operations.length) return null;
    return `the batch of ${open.first} ends after ${open.next} operations`;
  }

  /** The first difference between the operation and what is signed, or null. */
  onOperation(
    seq: number,
    command: BatchCommand,
    evidence: Evidence,
    listing: Listing,
  ): string | null {
    const { batch: place, session } = command;
    if (place === undefined) return "it is no operation of a batch";
    if (place.index === 0) {
      const cut = this.onOther();
      if (cut !== null) return cut;
      const body = batchBodyOf(evidence.signed);
      if (typeof body === "string") return body;
      this.open = { first: seq, body, session, key: place.key, next: 0 };
    }
    const { open } = this;
    if (open === null || open.next !== place.index || open.first !== seq - place.index) {
      return "it belongs to no signed batch before it";
    }
    if (open.session !== session || open.key !== place.key) {
      return "it has another session or key than the first operation of its batch";
    }
    if (place.index > 0 && evidence.signed.length > 0) return "it has a signed body of its own";
    open.next++;
    return operationFault(open.body, place.index, command, listing);
  }
}
