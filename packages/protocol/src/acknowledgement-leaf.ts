/**
 * The leaf of a block's tree: an acknowledgement as it is sealed. It is the engine's
 * `OrderAcknowledged` event, the number of its kind and its fields in this order, every one a
 * little-endian double that holds a safe integer.
 *
 * The engine writes it and a client reads it, so its one description stands here. Block hashes
 * depend on every byte: kind, order of fields and numbers of words never change; words are appended.
 */

export const ACKNOWLEDGED_KIND = 18;

export const ACKNOWLEDGED_FIELDS = [
  /** The order's position in the log, which is its `ackNonce` too. */
  "orderId",
  /** The account's number in order of opening. */
  "account",
  /** The log position of the sign-in. */
  "session",
  /** The market's place in the listing, which is its place in `GET /v1/markets`. */
  "market",
  /** 1 for long, −1 for short. */
  "side",
  /** A place in `ORDER_TYPES`. */
  "type",
  "nonce",
  /** A place in `ORDER_STATUSES`. */
  "status",
  /** A place in `END_REASONS`. */
  "reason",
  "filledLots",
  "filledMicros",
  "feeMicros",
  "remainingLots",
  "positionLots",
  "positionCostMicros",
  "unrealizedMicros",
  "block",
] as const;
export type AcknowledgedField = (typeof ACKNOWLEDGED_FIELDS)[number];

/** The fields of a leaf by name. */
export type AcknowledgementLeaf = { readonly [F in AcknowledgedField]: number };

export const ORDER_TYPES = ["market", "limit", "stop"] as const;
export const ORDER_STATUSES = ["filled", "resting", "pending", "canceled"] as const;

/** Why an order (or what was left of it) ended without filling; 0 is null on the wire. */
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
] as const;

const WORD_BYTES = 8;
export const LEAF_BYTES = WORD_BYTES * (1 + ACKNOWLEDGED_FIELDS.length);

/** The fields that these bytes hold; undefined if they are not a leaf. */
export function readLeaf(bytes: Uint8Array): AcknowledgementLeaf | undefined {
  if (bytes.length !== LEAF_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getFloat64(0, true) !== ACKNOWLEDGED_KIND) return undefined;
  const fields: Record<string, number> = {};
  for (const [i, name] of ACKNOWLEDGED_FIELDS.entries()) {
    const value = view.getFloat64(WORD_BYTES * (1 + i), true);
    if (!Number.isSafeInteger(value)) return undefined;
    fields[name] = value;
  }
  return isComplete(fields) && hasKnownWords(fields) ? fields : undefined;
}

function isComplete(
  fields: Record<string, number>,
): fields is Record<string, number> & AcknowledgementLeaf {
  return ACKNOWLEDGED_FIELDS.every((name) => name in fields);
}

function hasKnownWords({ side, type, status, reason }: AcknowledgementLeaf): boolean {
  return (
    (side === 1 || side === -1) &&
    ORDER_TYPES[type] !== undefined &&
    ORDER_STATUSES[status] !== undefined &&
    END_REASONS[reason] !== undefined
  );
}
