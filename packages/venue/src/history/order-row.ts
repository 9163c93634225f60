/** An order's latest state as the history keeps it, in integers. */

export const ORDER_ROW_WORDS = 21;
export const ORDER_ROW = {
  ID: 0,
  ACCOUNT: 1,
  MARKET: 2,
  SIDE: 3,
  TYPE: 4,
  /** 0: none. */
  PRICE: 5,
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
