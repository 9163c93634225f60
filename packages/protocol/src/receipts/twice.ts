/**
 * Two receipts for one nonce. A nonce executes once: a retry is given the receipt of the same position. The
 * operations of a batch share its nonce and body at consecutive positions, and nothing else lies between,
 * so a second execution of the same operation is at least as many positions away as the body has
 * operations.
 */

import { readLeaf } from "../blocks/acknowledgement-leaf.js";
import { equalBytes } from "./bytes.js";
import type { OpenedReceipt } from "./receipt-file.js";

/**
 * Null if the two receipts, whose signatures hold, are for one session, nonce and index at two positions;
 * otherwise why that does not follow.
 */
export function twiceProblem(one: OpenedReceipt, other: OpenedReceipt): string | null {
  const [first, second] = [one.receipt.statement, other.receipt.statement];
  if (!equalBytes(first.venueId, second.venueId)) return "the receipts are of two venues";
  if (first.session !== second.session) return "the receipts are of two sessions";
  const [nonce, otherNonce] = [nonceOf(one), nonceOf(other)];
  if (nonce === undefined || otherNonce === undefined) return "a receipt has no leaf";
  if (nonce !== otherNonce) return "the receipts are for two nonces";
  const distance = Math.abs(first.position - second.position);
  if (distance === 0) return "the receipts are of one position";
  if (!equalBytes(first.requestHash, second.requestHash)) return null;
  const { request } = one.file;
  if (request === undefined) return "the request that both have is missing";
  return distance < operationsIn(request) ? "the receipts are of two operations of a batch" : null;
}

/** The nonce in the leaf, which has the hash that is signed. */
export function nonceOf({ leaf }: OpenedReceipt): number | undefined {
  return leaf === undefined ? undefined : readLeaf(leaf)?.nonce;
}

function operationsIn(request: string): number {
  try {
    const body: unknown = JSON.parse(request);
    if (typeof body !== "object" || body === null || !("operations" in body)) return 1;
    return Array.isArray(body.operations) ? body.operations.length : 1;
  } catch {
    return 1;
  }
}
