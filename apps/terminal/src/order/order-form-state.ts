/** What stands in the order form: text as it was typed, numbers only where a control gives one. */

import type { OrderType, Side } from "@perpgate/protocol";
import { Store } from "../state/store.js";

export interface OrderForm {
  readonly side: Side;
  readonly type: OrderType;
  /** Dollars. */
  readonly margin: string;
  readonly leverage: number;
  readonly price: string;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
}

export const EMPTY_FORM: OrderForm = {
  side: "long",
  type: "market",
  margin: "",
  leverage: 5,
  price: "",
  reduceOnly: false,
  postOnly: false,
};

export const orderForm = new Store<OrderForm>(EMPTY_FORM, "at-once");

export function changeForm(change: Partial<OrderForm>): void {
  orderForm.update((form) => ({ ...form, ...change }));
}

/** A price picked from the book: a market order becomes a limit order at it. */
export function pickPrice(price: string): void {
  const { type } = orderForm.get();
  changeForm({ price, type: type === "market" ? "limit" : type });
}

const PLAIN = /^(\d+\.?\d*|\.\d+)$/;
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d*)?$/;

/**
 * The number that was typed; undefined where there is none. Commas may part thousands and nothing
 * else: whoever types 65000,5 for a fraction must not be sent ten times the price.
 */
export function numberIn(text: string): number | undefined {
  const plain = text.trim();
  if (!PLAIN.test(plain) && !GROUPED.test(plain)) return undefined;
  const value = Number(plain.replaceAll(",", ""));
  return Number.isFinite(value) ? value : undefined;
}
