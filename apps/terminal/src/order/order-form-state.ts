/** The content of the order form: text as typed, choices of controls. */

import type { OrderType, Side, TimeInForce, Trigger } from "@perpgate/protocol";
import { Store } from "../state/store.js";

/** What the amount is: margin in dollars, order value in dollars, or a size in coins. */
export type AmountUnit = "margin" | "value" | "size";

/** What the exits of the form are typed as: prices, percent of the price, or percent of the margin. */
export type ExitUnit = "price" | "percent" | "roi";

export interface OrderForm {
  readonly side: Side;
  readonly type: OrderType;
  readonly amount: string;
  readonly unit: AmountUnit;
  /** The share of the largest order that the amount follows; 0 for a typed amount. */
  readonly share: number;
  readonly leverage: string;
  readonly price: string;
  readonly reduceOnly: boolean;
  /** Of limit orders. */
  readonly postOnly: boolean;
  readonly timeInForce: TimeInForce;
  /** Milliseconds until the order expires; 0 for never. */
  readonly expiresInMs: number;
  /** Of stop orders. */
  readonly trigger: Trigger;
  readonly limitPrice: string;
  /** Whether the order brings a take-profit and a stop-loss. */
  readonly hasExits: boolean;
  readonly exitUnit: ExitUnit;
  readonly takeProfit: string;
  readonly stopLoss: string;
}

/** What belongs to one market's prices. */
const NO_PRICES = { price: "", limitPrice: "", takeProfit: "", stopLoss: "" };

export const EMPTY_FORM: OrderForm = {
  side: "long",
  type: "market",
  amount: "",
  unit: "margin",
  share: 0,
  leverage: "5",
  ...NO_PRICES,
  reduceOnly: false,
  postOnly: false,
  timeInForce: "gtc",
  expiresInMs: 0,
  trigger: "stop",
  hasExits: false,
  exitUnit: "price",
};

export const orderForm = new Store<OrderForm>(EMPTY_FORM, "immediate");

export function changeForm(change: Partial<OrderForm>): void {
  orderForm.update((form) => ({ ...form, ...change }));
}

/** For another market: prices and sizes of the last one mean nothing there. */
export function clearPrices(): void {
  const { unit } = orderForm.get();
  changeForm({ ...NO_PRICES, ...(unit === "size" ? { amount: "", share: 0 } : {}) });
}

/** Takes a price from the book; a market order becomes a limit order. */
export function pickPrice(price: string): void {
  const { type } = orderForm.get();
  changeForm({ price, type: type === "market" ? "limit" : type });
}

const PLAIN = /^(\d+\.?\d*|\.\d+)$/;
/** By a comma, or by a space as another notation shows it. */
const GROUPED = /^\d{1,3}([,\u202f ]\d{3})+(\.\d*)?$/;

/** Prices, sizes and dollars from here on are typing errors, and no longer exact as micros. */
const TOO_LARGE = 1e9;

/**
 * The typed number, or undefined. Commas and spaces are accepted as thousands separators only: 65000,5 is an
 * error, not 650005.
 */
export function numberIn(text: string): number | undefined {
  const value = anyNumberIn(text);
  return value !== undefined && value < TOO_LARGE ? value : undefined;
}

export function isTooLarge(text: string): boolean {
  return (anyNumberIn(text) ?? 0) >= TOO_LARGE;
}

function anyNumberIn(text: string): number | undefined {
  const plain = text.trim();
  if (!PLAIN.test(plain) && !GROUPED.test(plain)) return undefined;
  return Number(plain.replaceAll(/[,\u202f ]/g, ""));
}
