/** Which CCXT exception each error code of the venue is. Codes that are missing here go by their status. */

import { errors } from "ccxt";

const {
  ArgumentsRequired,
  AuthenticationError,
  BadRequest,
  BadSymbol,
  DuplicateOrderId,
  ExchangeError,
  ExchangeNotAvailable,
  InsufficientFunds,
  InvalidNonce,
  InvalidOrder,
  MarketClosed,
  NotSupported,
  OperationRejected,
  OrderImmediatelyFillable,
  OrderNotFound,
  PermissionDenied,
  RateLimitExceeded,
  RequestTimeout,
} = errors;

type ExceptionClass = new (message: string) => Error;

export const EXCEPTIONS: Readonly<Record<string, ExceptionClass>> = {
  invalid_request: BadRequest,
  malformed_json: BadRequest,
  duplicate_key: BadRequest,
  forbidden_key: BadRequest,
  number_not_exact: BadRequest,
  malformed_request: BadRequest,
  malformed_uri: BadRequest,
  invalid_session_key: BadRequest,
  invalid_tx_hash: BadRequest,
  invalid_vote: BadRequest,
  token_not_on_chain: NotSupported,
  withdrawals_not_supported: NotSupported,
  contract_wallet_elsewhere: PermissionDenied,
  withdrawal_too_small: BadRequest,
  insufficient_balance: InsufficientFunds,
  withdrawals_paused: OperationRejected,
  reorged_credit: OperationRejected,
  chain_balance_too_small: OperationRejected,
  unpaid_withdrawals: OperationRejected,
  // Waiting as after a request too many would not help for hours.
  withdrawal_limit: OperationRejected,
  exits_not_supported: NotSupported,
  unknown_operation: NotSupported,
  unknown_stream: NotSupported,
  not_subscribed: BadRequest,
  too_many_streams: OperationRejected,
  unknown_parameter: BadRequest,
  too_many_rows: BadRequest,
  not_found: NotSupported,
  request_timeout: RequestTimeout,
  rate_limited: RateLimitExceeded,
  overloaded: ExchangeNotAvailable,
  stopped: ExchangeNotAvailable,
  not_ready: ExchangeNotAvailable,
  venue_unavailable: ExchangeNotAvailable,
  not_executed: ExchangeNotAvailable,
  lagging: ExchangeNotAvailable,
  history_rebuilding: ExchangeNotAvailable,
  history_not_kept: BadRequest,
  // After these a request may have been executed, as after any NetworkError.
  outcome_unknown: RequestTimeout,
  internal_error: ExchangeNotAvailable,
  // The SDK's, for a response that it cannot read.
  unexpected_answer: ExchangeNotAvailable,
  token_required: AuthenticationError,
  invalid_token: AuthenticationError,
  session_key_rotated: AuthenticationError,
  session_symbol_not_allowed: PermissionDenied,
  session_order_cap_exceeded: PermissionDenied,
  session_notional_cap_exceeded: PermissionDenied,
  not_in_cohort: PermissionDenied,
  deposit_reorged: PermissionDenied,
  unknown_symbol: BadSymbol,
  market_not_found: BadSymbol,
  market_halted: MarketClosed,
  market_settled: MarketClosed,
  market_reduce_only: OperationRejected,
  stale_index: OperationRejected,
  index_held: OperationRejected,
  too_late: OperationRejected,
  position_not_found: OperationRejected,
  too_many_orders: InvalidOrder,
  price_required: ArgumentsRequired,
  insufficient_margin: InsufficientFunds,
  margin_needed: InsufficientFunds,
  post_only_would_cross: OrderImmediatelyFillable,
  stop_would_trigger: OrderImmediatelyFillable,
  client_order_id_in_use: DuplicateOrderId,
  nonce_conflict: InvalidNonce,
  nonce_too_old: InvalidNonce,
  order_not_found: OrderNotFound,
  order_not_cancelable: OrderNotFound,
  order_not_amendable: OrderNotFound,
};

/** By HTTP status, for codes that a newer venue may send: what an order breaks is `InvalidOrder`. */
export function exceptionOf(code: string, status: number): ExceptionClass {
  const known = EXCEPTIONS[code];
  if (known !== undefined) return known;
  if (status === 400 || status === 409) return InvalidOrder;
  if (status === 401) return AuthenticationError;
  if (status === 403) return PermissionDenied;
  if (status === 404) return BadRequest;
  if (status === 429) return RateLimitExceeded;
  if (status >= 500) return ExchangeNotAvailable;
  return ExchangeError;
}
