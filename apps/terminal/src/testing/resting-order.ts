import type { Order } from "@perpgate/protocol";

/** A limit order that rests in the book, as the venue shows it. */
export const RESTING: Order = {
  orderId: "7",
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  status: "resting",
  price: 60_000,
  size: 0.5,
  filledSize: 0,
  remainingSize: 0.5,
  avgFillPrice: 0,
  margin: 100,
  leverage: 5,
  reduceOnly: false,
  postOnly: false,
  nonce: 1,
  reason: null,
  createdAt: 1,
  updatedAt: 1,
  clientOrderId: null,
  timeInForce: "gtc",
  expiresAt: null,
  trigger: null,
  limitPrice: null,
  closePosition: false,
};
