/**
 * The reasons of refusals, ends of orders and halts: numbers in events, names everywhere else. The
 * numbers are part of the log's meaning: append, never renumber.
 */
import { END_REASONS } from "@perpgate/protocol/acknowledgement-leaf";

/**
 * Why a command was refused; two details carry the figures of the message, in integers. A refusal
 * that reaches clients has the name of its code in the protocol's error table.
 */
export const REFUSALS = [
  "none",
  "not_started",
  "already_started",
  "configuration_invalid",
  "session_unknown",
  "session_expired",
  "session_key_rotated",
  "siwe_nonce_used",
  "token_in_use",
  "nonce_too_old",
  "unknown_symbol",
  "market_halted",
  "session_symbol_not_allowed",
  "invalid_order",
  "leverage_above_maximum",
  "notional_limit",
  "price_required",
  "post_only_needs_limit",
  "stale_index",
  "price_outside_band",
  "price_too_far",
  "stop_would_trigger",
  "reduce_only_without_position",
  "size_below_lot",
  "post_only_would_cross",
  "not_in_cohort",
  "leverage_above_tier",
  "position_limit",
  "session_order_cap_exceeded",
  "session_notional_cap_exceeded",
  "open_order_limit",
  "insufficient_margin",
  "order_not_cancelable",
  "market_unknown",
  "index_invalid",
  "deposit_kind_mismatch",
  "attestor_unknown",
  "deposit_unknown",
  "deposit_settled",
  "deposit_limit",
  "invalid_command",
  "vote_outdated",
  "deposits_paused",
  "deposit_not_rejected",
  "deposit_not_reorged",
  "version_not_next",
  "index_held",
  "command_expired",
  "operator_rate_limit",
  "configuration_raises_and_lists",
  "market_reduce_only",
  "market_settled",
  "notional_too_small",
  "deposit_reorged",
  "too_many_unseen_deposits",
  "too_late",
  "client_order_id_in_use",
  "margin_too_small",
  "order_not_amendable",
  "margin_needed",
  "close_position_in_use",
  "position_not_found",
  "expiry_out_of_range",
  "limit_price_outside_band",
  "writer_not_live",
  "too_many_writers",
  "writer_lacks_version",
  "index_slot_passed",
  "index_slot_ahead",
  "exit_price",
  "leverage_limited",
  "too_many_orders",
  "withdrawals_not_supported",
  "contract_wallet_elsewhere",
  "reorged_credit",
  "withdrawal_too_small",
  "insufficient_balance",
  "withdrawals_paused",
  "chain_balance_too_small",
  "unpaid_withdrawals",
  "withdrawal_limit",
  "withdrawal_unknown",
  "withdrawal_not_due",
  "request_too_late",
  "withdrawals_open",
] as const;
export type Refusal = (typeof REFUSALS)[number];

export { END_REASONS };

const INVARIANTS = [
  "none",
  "money_conserved",
  "lots_balanced",
  "book_crossed",
  "wallet_negative",
  "overflow",
] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Why a writer ended: another joined under its name, it left, or it sent nothing for too long. */
export const WRITER_ENDS = ["replaced", "left", "gone"] as const;
export type WriterEnd = (typeof WRITER_ENDS)[number];

type CodeTable<T extends readonly string[]> = { readonly [K in T[number]]: number };

function codes<T extends readonly string[]>(names: T): CodeTable<T> {
  const table: Record<string, number> = {};
  names.forEach((name, code) => {
    table[name] = code;
  });
  return table as CodeTable<T>;
}

export const REFUSAL = codes(REFUSALS);
export const END = codes(END_REASONS);
export const INVARIANT = codes(INVARIANTS);
export const WRITER_END = codes(WRITER_ENDS);
