/** The names of the fields of order bodies, in the order in which the SDK writes them. */

/** What an order says of itself, alone or in a batch. */
export const ORDER_FIELDS = [
  "symbol",
  "side",
  "type",
  "margin",
  "leverage",
  "price",
  "reduceOnly",
  "postOnly",
  "size",
  "timeInForce",
  "expiresAt",
  "clientOrderId",
  "trigger",
  "limitPrice",
  "closePosition",
  "selfTrade",
  "takeProfit",
  "stopLoss",
] as const;

/** Of the exits that an order is sent with. */
export const EXIT_FIELDS = ["price", "limitPrice"] as const;

/** How an open order is named. */
export const TARGET_FIELDS = ["orderId", "clientOrderId"] as const;

export const AMEND_FIELDS = [...TARGET_FIELDS, "price", "size", "limitPrice", "expiresAt"] as const;
