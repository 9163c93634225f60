/** A leaf of a block that an answer has: one that a receipt can be about. */

import { type AcknowledgementLeaf, isOrderLeaf, readLeaf } from "./acknowledgement-leaf.js";
import { type CancelLeaf, isCancelLeaf, readCancelLeaf } from "./cancel-leaf.js";

/** Of an order or an amendment, which has no `kind`; or of a cancel. */
export type AnswerLeaf = AcknowledgementLeaf | CancelLeaf;

/** Whether a leaf is of one of these kinds, and not of a withdrawal or a commitment. */
export function isAnswerLeaf(bytes: Uint8Array): boolean {
  return isOrderLeaf(bytes) || isCancelLeaf(bytes);
}

/** The fields of a leaf; undefined if the bytes are not one. */
export function readAnswerLeaf(bytes: Uint8Array): AnswerLeaf | undefined {
  return isCancelLeaf(bytes) ? readCancelLeaf(bytes) : readLeaf(bytes);
}
