/** The rows of orders: their words, in integers. */
import { GOOD_TILL_CANCELED, IMMEDIATE_OR_CANCEL, LIMIT_ORDER } from "@perpgate/engine";

/** Words of a plain order's row, in integers; of one with more terms; and what rows have. */
export const ORDER_ROW_WORDS = 21;
export const EXTENDED_ROW_WORDS = 31;
export const ORDER_ROW_LENGTHS: readonly number[] = [ORDER_ROW_WORDS, EXTENDED_ROW_WORDS];
export const ORDER_ROW = {
  ID: 0,
  ACCOUNT: 1,
  MARKET: 2,
  SIDE: 3,
  TYPE: 4,
  /** 0: none. */
  PRICE: 5,
  /** As placed or amended; an order's size is what it filled and what is left. */
  LOTS: 6,
  MARGIN: 7,
  LEVERAGE: 8,
  REDUCE_ONLY: 9,
  POST_ONLY: 10,
  NONCE: 11,
  SESSION: 12,
  /** Index into the engine's ORDER_STATUSES. */
  STATUS: 13,
  /** Index into the engine's END_REASONS. */
  REASON: 14,
  FILLED_LOTS: 15,
  FILLED_MICROS: 16,
  FEE: 17,
  REMAINING: 18,
  CREATED: 19,
  UPDATED: 20,
} as const;
/** The words after those of a plain order. */
export const EXTENDED_ROW = {
  TIME_IN_FORCE: 21,
  /** 0: never. */
  EXPIRES: 22,
  TRIGGER: 23,
  /** 0: none. */
  LIMIT: 24,
  /** 0: no; 1: yes; 2: yes, and triggered. */
  CLOSE_POSITION: 25,
  /** The client's id, five words. */
  CLIENT: 26,
} as const;

/** Of an order without further terms. */
export function plainTimeInForce(type: number): number {
  return type === LIMIT_ORDER ? GOOD_TILL_CANCELED : IMMEDIATE_OR_CANCEL;
}
