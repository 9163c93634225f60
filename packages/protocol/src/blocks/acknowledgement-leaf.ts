/**
 * The leaf of a block's tree: a sealed acknowledgement. It is the engine's `OrderAcknowledged` event:
 * the number of its kind and then its fields in this order, each a little-endian double with a safe
 * integer, or with the id of an exit (order-id.ts).
 *
 * The engine writes it and clients read it. Block hashes depend on every byte: kind, order of fields
 * and numbers of enumeration values never change; new values are appended.
 */
import { isExitId, isOrderId, STOP_LOSS_EXIT, TAKE_PROFIT_EXIT } from "../orders/order-id.js";

export const ACKNOWLEDGED_KIND = 18;

export const ACKNOWLEDGED_FIELDS = [
  /** The seq of the order. */
  "orderId",
  /** The account's number in order of opening. */
  "account",
  /** The seq of the sign-in. */
  "session",
  /** The market's index in the listing, as in `GET /v1/markets`. */
  "market",
  /** 1 for long, −1 for short. */
  "side",
  /**
   * An index into `ORDER_TYPES`; in the leaf 4 more if a take profit is attached to the order, and 8 more if
   * a stop loss is (order-id.ts).
   */
  "type",
  "nonce",
  /** An index into `ORDER_STATUSES`. */
  "status",
  /** An index into `END_REASONS`. */
  "reason",
  "filledLots",
  "filledMicros",
  "feeMicros",
  "remainingLots",
  "positionLots",
  "positionCostMicros",
  "unrealizedMicros",
  "block",
  /** The seq of the command that is acknowledged: of the order itself, or of its amendment. */
  "ackNonce",
  /** The client's id of the order (client-order-id.ts); zeros: none. */
  "client1",
  "client2",
  "client3",
  "client4",
  "client5",
] as const;
export type AcknowledgedField = (typeof ACKNOWLEDGED_FIELDS)[number];

/** The fields of a leaf by name. `exits`: those that are attached, 1 a take profit, 2 a stop loss, 3 both. */
export type AcknowledgementLeaf = { readonly [F in AcknowledgedField | "exits"]: number };

export const ORDER_TYPES = ["market", "limit", "stop"] as const;
/** The step of exits in the word of the type: more than there are types. */
const TYPE_CODES = 4;

/** The word of an order's type and of its exits. */
export function typeWord(type: number, exits: number): number {
  return type + TYPE_CODES * exits;
}

/** The exits in that word. */
export function exitsOfTypeWord(word: number): number {
  return Math.floor(word / TYPE_CODES);
}

export const ORDER_STATUSES = ["filled", "resting", "pending", "canceled"] as const;

/** Why an order, or its rest, ended without filling; 0 is null on the wire. */
export const END_REASONS = [
  "none",
  "requested",
  "unfunded",
  "bankruptcy",
  "position_limit",
  "band",
  "worst_price",
  "book_empty",
  "self_trade",
  "reduce_only",
  "liquidation",
  "cancel_after",
  "market_halted",
  "below_lot",
  "disconnected",
  "market_reduce_only",
  "market_settled",
  "not_in_cohort",
  "stale_index",
  "leverage_above_tier",
  "session_notional_cap_exceeded",
  "open_interest_limit",
  "fill_limit",
  "deposit_reorged",
  "not_filled",
  "margin_spent",
  "expired",
  "position_closed",
  "session_order_cap_exceeded",
  "order_ended",
  "leverage_limited",
] as const;

const WORD_BYTES = 8;
export const LEAF_BYTES = WORD_BYTES * (1 + ACKNOWLEDGED_FIELDS.length);

/**
 * A leaf ends before these fields where they say nothing: the acknowledgement is of the order itself, and
 * the order has no client's id. So an order without additions has the bytes that it always had.
 */
const PLAIN_FIELDS = ACKNOWLEDGED_FIELDS.indexOf("ackNonce");
export const PLAIN_LEAF_BYTES = WORD_BYTES * (1 + PLAIN_FIELDS);

/** Whether the leaf of these fields ends before the additions. */
export function isPlainLeaf(orderId: number, ackNonce: number, client1: number): boolean {
  return ackNonce === orderId && client1 === 0;
}

/** Whether a leaf of a block is of this kind, and not of a withdrawal or a commitment. */
export function isOrderLeaf(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length >= PLAIN_LEAF_BYTES && view.getFloat64(0, true) === ACKNOWLEDGED_KIND;
}

/** The fields of a leaf; undefined if the bytes are not one. */
export function readLeaf(bytes: Uint8Array): AcknowledgementLeaf | undefined {
  const isPlain = bytes.length === PLAIN_LEAF_BYTES;
  if (!isPlain && bytes.length !== LEAF_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getFloat64(0, true) !== ACKNOWLEDGED_KIND) return undefined;
  const fields: Record<string, number> = {};
  for (const [i, name] of ACKNOWLEDGED_FIELDS.entries()) {
    const isLeftOut = isPlain && i >= PLAIN_FIELDS;
    const value = isLeftOut ? 0 : view.getFloat64(WORD_BYTES * (1 + i), true);
    // An amendment's leaf may name an exit.
    if (!(name === "orderId" ? isOrderId(value) : Number.isSafeInteger(value))) return undefined;
    fields[name] = value;
  }
  if (!isComplete(fields)) return undefined;
  const exits = exitsOfTypeWord(fields.type);
  const leaf = { ...fields, type: fields.type - typeWord(0, exits), exits };
  if (!hasKnownValues(leaf)) return undefined;
  // An exit has no acknowledgement of its placement, only of amendments.
  if (isPlain) return isExitId(leaf.orderId) ? undefined : { ...leaf, ackNonce: leaf.orderId };
  return isPlainLeaf(leaf.orderId, leaf.ackNonce, leaf.client1) ? undefined : leaf;
}

function isComplete(
  fields: Record<string, number>,
): fields is Record<string, number> & Record<AcknowledgedField, number> {
  return ACKNOWLEDGED_FIELDS.every((name) => name in fields);
}

function hasKnownValues({ side, type, exits, status, reason }: AcknowledgementLeaf): boolean {
  return (
    (side === 1 || side === -1) &&
    exits >= 0 &&
    exits <= (TAKE_PROFIT_EXIT | STOP_LOSS_EXIT) &&
    ORDER_TYPES[type] !== undefined &&
    ORDER_STATUSES[status] !== undefined &&
    END_REASONS[reason] !== undefined
  );
}
