/**
 * An order and its bytes. Equal fields give equal bytes, in whatever order they are passed, so an order
 * that the caller repeats with its nonce is recognised as the same order.
 */

import type { OrderType, PlaceOrderBody, Side } from "@perpgate/protocol";

export interface NewOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly type: OrderType;
  /** Dollars; margin × leverage is the notional. */
  readonly margin: number;
  readonly leverage: number;
  /** Limit and trigger price; the worst price of a market order. */
  readonly price?: number | null | undefined;
  readonly reduceOnly?: boolean | undefined;
  readonly postOnly?: boolean | undefined;
  /** Only to repeat an order whose outcome is unknown. */
  readonly nonce?: number | undefined;
}

export function orderText(order: NewOrder, nonce: number): string {
  const { symbol, side, type, margin, leverage, price, reduceOnly, postOnly } = order;
  const body: PlaceOrderBody = {
    symbol,
    side,
    type,
    margin,
    leverage,
    ...(price === undefined || price === null ? {} : { price }),
    ...(reduceOnly === true ? { reduceOnly } : {}),
    ...(postOnly === true ? { postOnly } : {}),
    nonce,
  };
  return JSON.stringify(body);
}
