/** The content of the order form: text as typed, numbers from controls. */

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

export const orderForm = new Store<OrderForm>(EMPTY_FORM, "immediate");

export function changeForm(change: Partial<OrderForm>): void {
  orderForm.update((form) => ({ ...form, ...change }));
}

/** Takes a price from the book; a market order becomes a limit order. */
export function pickPrice(price: string): void {
  const { type } = orderForm.get();
  changeForm({ price, type: type === "market" ? "limit" : type });
}

const PLAIN = /^(\d+\.?\d*|\.\d+)$/;
const GROUPED = /^\d{1,3}(,\d{3})+(\.\d*)?$/;

/**
 * The typed number, or undefined. Commas are accepted as thousands separators only: 65000,5 is an
 * error, not 650005.
 */
export function numberIn(text: string): number | undefined {
  const plain = text.trim();
  if (!PLAIN.test(plain) && !GROUPED.test(plain)) return undefined;
  const value = Number(plain.replaceAll(",", ""));
  return Number.isFinite(value) ? value : undefined;
}
