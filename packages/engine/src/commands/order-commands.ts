/** What traders do: orders, their changes and cancels, the margin of a position. */

import type { Unsigned } from "./request-terms.js";

export const LONG = 1;
export const SHORT = -1;
export type Side = typeof LONG | typeof SHORT;

export const MARKET_ORDER = 0;
export const LIMIT_ORDER = 1;
export const STOP_ORDER = 2;
export type OrderTypeCode = typeof MARKET_ORDER | typeof LIMIT_ORDER | typeof STOP_ORDER;

export const GOOD_TILL_CANCELED = 0;
export const IMMEDIATE_OR_CANCEL = 1;
export const FILL_OR_KILL = 2;
export type TimeInForceCode =
  | typeof GOOD_TILL_CANCELED
  | typeof IMMEDIATE_OR_CANCEL
  | typeof FILL_OR_KILL;

export const STOP_TRIGGER = 0;
export const TAKE_PROFIT_TRIGGER = 1;
export type TriggerCode = typeof STOP_TRIGGER | typeof TAKE_PROFIT_TRIGGER;

/** What ends when an order meets one of its own account. */
export const CANCEL_RESTING = 0;
export const CANCEL_TAKER = 1;
export const CANCEL_BOTH = 2;
export type SelfTradeCode = typeof CANCEL_RESTING | typeof CANCEL_TAKER | typeof CANCEL_BOTH;

/** Terms that a plain order does not have; one that has any of them has all, with neutral values. */
export interface OrderExtras {
  /** 0: margin × leverage decides the lots. */
  readonly sizeLots: number;
  readonly timeInForce: TimeInForceCode;
  /** 0: never. */
  readonly expiresAtMs: number;
  /** Empty: none. */
  readonly clientOrderId: string;
  readonly trigger: TriggerCode;
  /** The limit of a stop once it is triggered; 0: none. */
  readonly limitTicks: number;
  readonly closePosition: boolean;
  readonly selfTrade: SelfTradeCode;
  /** The command is refused at a later venue time; 0: none. */
  readonly validUntilMs: number;
}

/** The exits that are attached to an order; 0: none. */
export interface OrderExits {
  readonly takeProfitTicks: number;
  /** The limit of the exit once it is triggered; 0: none. */
  readonly takeProfitLimitTicks: number;
  readonly stopLossTicks: number;
  readonly stopLossLimitTicks: number;
}

/**
 * An operation of a batch: `index` of `count`, at consecutive positions of the log, so the batch begins
 * at the operation's seq less its index. All share one key and one nonce.
 */
export interface BatchPlace {
  readonly index: number;
  readonly count: number;
  readonly key: string;
  readonly nonce: number;
}

export interface PlaceOrder {
  readonly kind: "PlaceOrder";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  readonly market: number;
  readonly side: Side;
  readonly type: OrderTypeCode;
  /** 0: no bound, for an order that has a size. */
  readonly marginMicros: number;
  readonly leverage: number;
  /** 0: none (market orders only). */
  readonly priceTicks: number;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
  /** Missing: a plain order, whose type decides how long it lives. */
  readonly extras?: OrderExtras;
  /** Missing: none. From version 3 of the rules. */
  readonly exits?: OrderExits;
  readonly batch?: BatchPlace;
}

/** Changes an open order; it keeps its id. */
export interface AmendOrder {
  readonly kind: "AmendOrder";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  /** The market whose units the figures have: the order's. */
  readonly market: number;
  /** 0: named by its client order id. */
  readonly orderId: number;
  readonly clientOrderId: string;
  /** 0: as it was. */
  readonly priceTicks: number;
  /** The new total, filled lots included; 0: as it was. */
  readonly sizeLots: number;
  /** 0: as it was. */
  readonly limitTicks: number;
  /** 0: never; −1: as it was. */
  readonly expiresAtMs: number;
  /** 0: none. */
  readonly validUntilMs: number;
  readonly batch?: BatchPlace;
}

/** Moves money between the wallet and the margin of a position. */
export interface ChangeMargin {
  readonly kind: "ChangeMargin";
  readonly stampMs: number;
  readonly session: number;
  /** Fingerprint of the key that verified the signature. */
  readonly key: string;
  readonly nonce: number;
  readonly market: number;
  /** Above 0 from the wallet to the margin, below 0 back; never 0. */
  readonly amountMicros: number;
}

export interface CancelOrder extends Unsigned {
  readonly kind: "CancelOrder";
  readonly stampMs: number;
  readonly session: number;
  /** 0: named by its client order id. */
  readonly orderId: number;
  readonly clientOrderId?: string;
  /** The command is refused at a later venue time. Missing: none. */
  readonly validUntilMs?: number;
  readonly batch?: BatchPlace;
}

export interface CancelAll extends Unsigned {
  readonly kind: "CancelAll";
  readonly stampMs: number;
  readonly session: number;
  /** −1: every market. */
  readonly market: number;
}

/** The dead-man's switch: cancels everything at that time unless set again; 0 disarms. */
export interface CancelAfter extends Unsigned {
  readonly kind: "CancelAfter";
  readonly stampMs: number;
  readonly session: number;
  readonly afterMs: number;
}
