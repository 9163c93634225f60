/** What the `reason` of an acknowledgement or order means. */

export const REASON_TEXTS: Readonly<Record<string, string>> = {
  unfunded: "Not enough funds for it. Deposit, or use less margin.",
  band: "The rest of the book is outside the price band around the mark. Place a limit order.",
  book_empty: "The book is empty. Place a limit order to wait for the rest.",
  worst_price: "The rest of the book is beyond the worst price you allowed.",
  below_lot: "The rest is less than one lot.",
  reduce_only: "There is nothing left to reduce.",
  self_trade: "It would have traded with your own order, which was canceled.",
  position_limit: "The position would exceed the largest tier.",
  bankruptcy: "A worse price would cost more than the position's margin.",
  liquidation: "The position was liquidated and its orders were canceled.",
  market_halted: "The market was halted.",
  market_reduce_only: "The market is reduce-only: what would open was canceled.",
  market_settled: "The market was settled.",
  deposit_reorged: "A credited deposit left its chain, so nothing may be opened.",
  disconnected: "Canceled on disconnect, as you had set.",
  not_in_cohort: "The rest would have opened, which waits for the operator's list.",
  stale_index: "The rest would have opened, which waits for a fresh index.",
  leverage_above_tier: "The rest would need a lower leverage at that size.",
  leverage_limited: "The rest would need a lower leverage: the venue has limited it for now.",
  session_notional_cap_exceeded: "The rest would go beyond the cap of your session.",
  open_interest_limit: "The market's open interest is at its limit.",
  fill_limit: "One order meets 2,000 others at most; send the rest again.",
  requested: "Canceled by you.",
  cancel_after: "Canceled by the cancel-after timer.",
  not_filled: "The book had nothing for it at its price.",
  margin_spent: "The rest would need more margin than the order has.",
  expired: "It reached its expiry.",
  position_closed: "The position that it was to close is gone.",
  session_order_cap_exceeded: "The rest would go beyond your session's cap on one order.",
  order_ended: "Its order ended without a fill.",
};

/** The wallet had the money when most of the order was filled: a deposit is no advice then. */
const UNFUNDED_REST = "The price moved on its way, and the wallet did not cover the rest.";

export function reasonText(reason: string, hasFilled = false): string {
  if (reason === "unfunded" && hasFilled) return UNFUNDED_REST;
  return REASON_TEXTS[reason] ?? reason;
}
