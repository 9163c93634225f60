/**
 * Signed bodies and their bytes. Equal fields give equal bytes, in whatever order they are passed, so an
 * order that the caller repeats with its nonce is recognised as the same order. A field that is not known
 * is refused: left out silently, an order meant as `ioc` would rest.
 */

import type {
  Amendment,
  BatchOperation,
  CancelOrderBody,
  OrderType,
  SelfTrade,
  Side,
  TimeInForce,
  Trigger,
} from "@perpgate/protocol";
import {
  AMEND_FIELDS,
  EXIT_FIELDS,
  EXIT_NAMES,
  ORDER_FIELDS,
  TARGET_FIELDS,
} from "@perpgate/protocol/core";

/** Sent with an order, and an order of its own once that is accepted: `POSITION.1` or `POSITION.2`. */
export interface Exit {
  /** The trigger price. */
  readonly price: number;
  /** Once triggered it is a limit order at this price, otherwise a market order. */
  readonly limitPrice?: number | null | undefined;
}

export interface NewOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  /** Dollars; without a size, margin × leverage is the notional. With one, it bounds the margin. */
  readonly margin?: number | undefined;
  /** Needed except with `closePosition`. */
  readonly leverage?: number | undefined;
  /** Limit and trigger price; the worst price of a market order. */
  readonly price?: number | null | undefined;
  readonly reduceOnly?: boolean | undefined;
  readonly postOnly?: boolean | undefined;
  /** Units of base, a whole number of lots; see `sizeFor`. */
  readonly size?: number | undefined;
  /** `gtc` rests, `ioc` fills what it can immediately, `fok` all or nothing. */
  readonly timeInForce?: TimeInForce | undefined;
  /** Unix milliseconds, 1 s to 90 days ahead. */
  readonly expiresAt?: number | undefined;
  /** Your own id: 1 to 36 letters, digits, `_` or `-`; unique among your open orders. */
  readonly clientOrderId?: string | undefined;
  /** Of a stop order: `takeProfit` triggers from the other side. */
  readonly trigger?: Trigger | undefined;
  /** Of a stop order: once triggered it is a limit order at this price. */
  readonly limitPrice?: number | null | undefined;
  /** Of a stop order: closes the whole position, whatever its size is then. */
  readonly closePosition?: boolean | undefined;
  /** What ends when the order meets one of your own; `cancelResting` by default. */
  readonly selfTrade?: SelfTrade | undefined;
  /** A market or limit order that opens: what it has opened is closed at this price, with a gain. */
  readonly takeProfit?: Exit | undefined;
  /** A market or limit order that opens: what it has opened is closed at this price, with a loss. */
  readonly stopLoss?: Exit | undefined;
  /** Unix milliseconds; refused with `too_late` if the venue gets to it later. */
  readonly validUntil?: number | undefined;
  /** Only to repeat an order whose outcome is unknown. */
  readonly nonce?: number | undefined;
}

/** What changes; the order is named by `orderId` or by `clientOrderId`. */
export interface OrderAmendment extends Amendment {
  readonly validUntil?: number | undefined;
  /** Only to repeat an amendment whose outcome is unknown. */
  readonly nonce?: number | undefined;
}

/** An operation of a batch: a new order, an amendment or a cancel, without a nonce of its own. */
export type NewOperation =
  | ({ readonly op: "place" } & Omit<NewOrder, "nonce" | "validUntil">)
  | ({ readonly op: "amend" } & Amendment)
  | { readonly op: "cancel"; readonly orderId?: string; readonly clientOrderId?: string };

/** An order by its id, or by your own. */
export type OrderName = string | { readonly clientOrderId: string };

const OPERATION_FIELDS: Readonly<Record<BatchOperation["op"], readonly string[]>> = {
  place: ORDER_FIELDS,
  amend: AMEND_FIELDS,
  cancel: TARGET_FIELDS,
};
/** Left out where they are what they would be anyway: a plain order keeps its bytes. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  price: null,
  limitPrice: null,
  reduceOnly: false,
  postOnly: false,
};

export function orderText(order: NewOrder, nonce: number): string {
  const fields = pick("an order", order, [...ORDER_FIELDS, "validUntil"]);
  return JSON.stringify({ ...fields, nonce });
}

export function amendText(amendment: OrderAmendment, nonce: number): string {
  const fields = pick("an amendment", amendment, [...AMEND_FIELDS, "validUntil"]);
  return JSON.stringify({ ...fields, nonce });
}

export function batchText(
  operations: readonly NewOperation[],
  validUntil: number | undefined,
  nonce: number,
): string {
  const picked = operations.map((operation) => {
    const known: readonly string[] | undefined = OPERATION_FIELDS[operation.op];
    if (known === undefined)
      throw new TypeError(`op is place, amend or cancel, not ${operation.op}`);
    return pick(`a ${operation.op} of a batch`, operation, ["op", ...known]);
  });
  return JSON.stringify({ nonce, operations: picked, validUntil });
}

/** A cancel is not signed; its fields are those of the message and of the body. */
export function cancelFields(order: OrderName, validUntil: number | undefined): CancelOrderBody {
  const name =
    typeof order === "string" ? { orderId: order } : { clientOrderId: order.clientOrderId };
  return validUntil === undefined ? name : { ...name, validUntil };
}

/** The known fields in their order; throws for others. */
function pick(what: string, from: object, known: readonly string[]): Record<string, unknown> {
  const values = new Map<string, unknown>(Object.entries(from));
  for (const name of values.keys()) {
    if (name !== "nonce" && !known.includes(name)) {
      throw new TypeError(`${what} has no field "${name}"; known: ${known.join(", ")}`);
    }
  }
  const picked: Record<string, unknown> = {};
  for (const name of known) {
    const value = values.get(name);
    if (value === undefined) continue;
    if (name in NEUTRAL && value === NEUTRAL[name]) continue;
    picked[name] = isExit(name, value) ? pick(name, value, EXIT_FIELDS) : value;
  }
  return picked;
}

/** A value that is no object is left to the venue to refuse. */
function isExit(name: string, value: unknown): value is object {
  const names: readonly string[] = Object.values(EXIT_NAMES);
  return names.includes(name) && typeof value === "object" && value !== null;
}
