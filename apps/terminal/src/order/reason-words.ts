/** Why an order ended as it did, in words; `reason` of an acknowledgement or an order. */

export const REASON_WORDS: Readonly<Record<string, string>> = {
  unfunded: "The wallet could not carry more. Deposit, or use less margin.",
  band: "The rest of the book is outside the price band around the mark. Try a limit order.",
  book_empty: "The book had no more to give. Place a limit order to wait for the rest.",
  worst_price: "The rest of the book is beyond the worst price you allowed.",
  below_lot: "What was left buys less than one lot.",
  reduce_only: "The position had nothing left to reduce.",
  self_trade: "It would have met your own order, which was canceled.",
  position_limit: "The position would have grown past the top tier.",
  bankruptcy: "A worse price would have cost more than the position's margin.",
  liquidation: "The position was liquidated, and its orders went with it.",
  market_halted: "The market was halted.",
  disconnected: "The connection that asked for it was lost, as you had set it.",
  requested: "Canceled as you asked.",
  cancel_after: "The dead-man's switch fired.",
};
