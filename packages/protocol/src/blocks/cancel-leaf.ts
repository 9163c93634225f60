/**
 * The leaf of a cancel of one order in the tree of its block: the number of its kind and then these fields,
 * each a little-endian double with a safe integer, or with the id of an exit (order-id.ts). It is the
 * engine's `CancelAcknowledged` event.
 *
 * Block hashes depend on every byte: kind and order of fields never change.
 */

import { isCount } from "../numbers/integers.js";
import { isOrderId } from "../orders/order-id.js";

export const CANCEL_LEAF_KIND = 61;

export const CANCEL_LEAF_FIELDS = [
  /** The order that was canceled. */
  "orderId",
  "account",
  /** The seq of the sign-in. */
  "session",
  /** The market's index in the listing, as in `GET /v1/markets`. */
  "market",
  /** Of the batch; 0 for a cancel of its own, which has none. */
  "nonce",
  /** What was left of the order. */
  "remainingLots",
  "block",
  /** The seq of the cancel. */
  "ackNonce",
] as const;
type CancelLeafField = (typeof CANCEL_LEAF_FIELDS)[number];

/** The fields of a leaf by name; `kind` tells it from the leaf of an order. */
export type CancelLeaf = { readonly kind: "cancel" } & { readonly [F in CancelLeafField]: number };

const WORD_BYTES = 8;
export const CANCEL_LEAF_BYTES = WORD_BYTES * (1 + CANCEL_LEAF_FIELDS.length);

/** Whether the bytes begin like the leaf of a cancel. */
export function isCancelLeaf(bytes: Uint8Array): boolean {
  if (bytes.length !== CANCEL_LEAF_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getFloat64(0, true) === CANCEL_LEAF_KIND;
}

/** The fields of a leaf; undefined if the bytes are not one. */
export function readCancelLeaf(bytes: Uint8Array): CancelLeaf | undefined {
  if (!isCancelLeaf(bytes)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (name: CancelLeafField): number =>
    view.getFloat64(WORD_BYTES * (1 + CANCEL_LEAF_FIELDS.indexOf(name)), true);
  const isKnown = (name: CancelLeafField): boolean =>
    name === "orderId" ? isOrderId(word(name)) : isCount(word(name));
  if (!CANCEL_LEAF_FIELDS.every(isKnown)) return undefined;
  return {
    kind: "cancel",
    orderId: word("orderId"),
    account: word("account"),
    session: word("session"),
    market: word("market"),
    nonce: word("nonce"),
    remainingLots: word("remainingLots"),
    block: word("block"),
    ackNonce: word("ackNonce"),
  };
}
