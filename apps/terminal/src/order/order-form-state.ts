/** What stands in the order form: text as it was typed, numbers only where a control gives one. */

import type { OrderType, Side } from "@perpgate/protocol/order";
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

/** The number that was typed, commas and spaces ignored; undefined where there is none. */
export function numberIn(text: string): number | undefined {
  const plain = text.replaceAll(/[,\s_]/g, "");
  if (!/^(\d+\.?\d*|\.\d+)$/.test(plain)) return undefined;
  const value = Number(plain);
  return Number.isFinite(value) ? value : undefined;
}
