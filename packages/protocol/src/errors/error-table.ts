/**
 * The error table: code → HTTP status and message.
 *
 * Every error of the REST interface and of the socket has one of these codes, and the engine uses the
 * same words as refusals. A code is stable and names the rule; the message says what to do, with the
 * values in braces filled in. No other file has a status or a message for clients.
 */

const status =
  <Status extends number>(status: Status) =>
  <const Message extends string>(message: Message) => ({ status, message });
const badRequest = status(400);
const unauthorized = status(401);
const forbidden = status(403);
const notFound = status(404);
const conflict = status(409);
const tooMany = status(429);
const unavailable = status(503);

const REQUEST = {
  invalid_request: badRequest("{problem}. See GET /v1/openapi.json for the shape."),
  unknown_parameter: badRequest("No query parameter {name} here; known: {known}."),
  too_many_rows: badRequest(
    "Of {read} entries, all that one request may read, {found} match; send {advice}.",
  ),
  malformed_json: badRequest("The body is not valid JSON: {problem}."),
  duplicate_key: badRequest('The key "{key}" appears twice; send it once.'),
  forbidden_key: badRequest('The key "{key}" is not allowed in any body.'),
  number_not_exact: badRequest(
    "{literal} is no exact number: an integer is at most 2^53 − 1, a number at most 64 characters.",
  ),
  malformed_request: badRequest("The request is not valid HTTP: {problem}."),
  malformed_uri: badRequest("The path is not a valid URI; percent-encode it."),
  not_found: notFound("No such path: {path}. GET /v1/openapi.json lists them."),
  method_not_allowed: status(405)("{method} is not offered here; use {allowed}."),
  request_timeout: status(408)("The request took too long to arrive; send it again."),
  body_too_large: status(413)("The body is above {limitBytes} bytes; send less."),
  unsupported_media_type: status(415)("Send the body as application/json."),
  headers_too_large: status(431)("The request headers are too large; send fewer."),
  rate_limited: tooMany("Too many requests; wait {retryAfterSeconds} s."),
  internal_error: status(500)(
    "Something failed on this side. Quote the requestId when you report it.",
  ),
  overloaded: unavailable("The venue is overloaded; retry the same request shortly."),
  stopped: unavailable("This gateway is stopping; send the same bytes again, at another or later."),
  not_executed: unavailable(
    "This request was not executed and never will be; send it again: with the same nonce if an " +
      "earlier try had no answer, else with any.",
  ),
  outcome_unknown: unavailable(
    "It is not known yet whether the command was executed; send it again with the same nonce.",
  ),
  lagging: unavailable(
    "This gateway has applied the log up to {position} only; retry shortly or at another.",
  ),
  history_rebuilding: unavailable(
    "The venue trades, but its past cannot be read yet: {percent} % of it is rebuilt; retry later.",
  ),
  not_ready: unavailable("Not ready: {reason}."),
  venue_unavailable: unavailable(
    "No venue is attached to this gateway; {operation} cannot be answered here.",
  ),
};

const SESSION = {
  token_required: unauthorized("Send the header Authorization: Bearer <token>."),
  invalid_token: unauthorized("The token is unknown or expired; sign in again."),
  invalid_session_key: badRequest(
    "{problem}. Send hex: 32 bytes for Ed25519; 33, 64 or 65 bytes for secp256k1; a valid point.",
  ),
  invalid_siwe_message: unauthorized("Line {line} of the message: expected {expected}."),
  siwe_domain_not_allowed: unauthorized("The domain {domain} is not served here."),
  siwe_domain_mismatch: unauthorized(
    "The domain {domain} must equal the authority of the URI, {authority}.",
  ),
  siwe_chain_not_allowed: unauthorized("Chain id {chainId} is not accepted here."),
  siwe_message_too_old: unauthorized(
    "issued-at is more than 10 minutes ago; sign a fresh message.",
  ),
  siwe_message_from_future: unauthorized(
    "issued-at is more than 60 s ahead of the server; check the clock.",
  ),
  siwe_message_expired: unauthorized("The message expired at {expirationTime}."),
  siwe_message_not_yet_valid: unauthorized("The message is valid from {notBefore}."),
  siwe_nonce_used: unauthorized("This nonce was used by this address; take a new one."),
  siwe_nonce_not_issued: unauthorized(
    "The nonce must come from GET /v1/auth/nonce and be unexpired.",
  ),
  session_key_mismatch: unauthorized(
    "The message binds session key {bound}, the body sent another.",
  ),
  session_key_not_bound: unauthorized(
    "Add the resource urn:perpgate:session?key=<sessionKey> to the message.",
  ),
  chain_rpc_not_configured: unauthorized(
    "Contract wallets on chain {chainId} cannot be checked here; no RPC is configured.",
  ),
  signature_required: unauthorized(
    "Send X-Service-Sig: the session key's signature over the exact bytes of the body. " +
      "Ed25519 signs SHA-256(body) or the body; secp256k1 signs SHA-256(body). Hex or base64.",
  ),
  invalid_signature: unauthorized(
    "The signature does not verify for the expected {kind} key {fingerprint}.",
  ),
  session_key_rotated: unauthorized(
    "The session key was rotated before this order reached the log; sign with the new one.",
  ),
  session_symbol_not_allowed: badRequest(
    "This session may trade {symbols} only; sign in with a wider scope for {symbol}.",
  ),
  session_order_cap_exceeded: badRequest(
    "The order's notional {notional} is above the session's maxOrderNotional {cap}.",
  ),
  session_notional_cap_exceeded: badRequest(
    "Total notional would be {notional}, above the session's maxNotional {cap}.",
  ),
};

const ORDER = {
  unknown_symbol: badRequest("No market {symbol}; GET /v1/markets lists them."),
  market_halted: badRequest("{symbol} is halted and takes no orders; cancel what rests there."),
  market_reduce_only: badRequest(
    "{symbol} is reduce-only: orders may close positions there, and open none.",
  ),
  market_settled: badRequest(
    "{symbol} is settled for good, or being settled, and takes no orders.",
  ),
  deposit_reorged: forbidden(
    "A deposit credited to you left its chain: {symbol} may only be reduced until it is settled.",
  ),
  stale_index: badRequest(
    "The index of {symbol} is older than {maxAgeSeconds} s; only reductions and cancels run.",
  ),
  index_held: badRequest(
    "The price of {symbol} jumped from {index} to {held}; until that is confirmed and its liquidations are done, only cancels run.",
  ),
  price_required: badRequest("A {type} order needs a price."),
  price_not_on_tick: badRequest(
    "Price {price} is not on the tick {tick}; the nearest are {below} and {above}.",
  ),
  price_outside_band: badRequest(
    "Price {price} is outside the band {low} to {high} around the mark {mark}.",
  ),
  price_too_far: badRequest(
    "A resting price must lie between {low} and {high}, a tenth and ten times the mark.",
  ),
  stop_would_trigger: badRequest(
    "The mark {mark} has already reached {price}; the stop would trigger immediately.",
  ),
  size_below_lot: badRequest(
    "margin × leverage buys less than one lot ({lot}); the smallest margin is {minMargin}.",
  ),
  notional_too_small: badRequest(
    "margin × leverage is {notional}, below the market's smallest order of {minNotional} dollars.",
  ),
  insufficient_margin: badRequest(
    "The wallet cannot carry margin and fee; the largest margin that passes is {maxMargin}.",
  ),
  leverage_above_maximum: badRequest(
    "Leverage {leverage} is above the market's maximum {maxLeverage}.",
  ),
  leverage_above_tier: badRequest(
    "At a notional of {notional} the tier allows leverage {maxLeverage} at most.",
  ),
  leverage_limited: badRequest(
    "Positions in {symbol} open at leverage {maxLeverage} at most now: what is open at more is large for the insurance fund, or open interest is near its bound.",
  ),
  position_limit: badRequest("The position would reach {notional}, above the top tier's {limit}."),
  notional_limit: badRequest("margin × leverage is above {limit} dollars."),
  open_order_limit: badRequest("{limit} orders are open in {symbol}; cancel some first."),
  too_many_orders: tooMany(
    "{open} orders and stops are open, and the account's equity allows {limit}: 20 and one for each 10 dollars. Cancel some, or deposit.",
  ),
  post_only_would_cross: badRequest(
    "A post-only order at {price} would cross the best opposite price {best}.",
  ),
  post_only_needs_limit: badRequest("postOnly works with type limit only."),
  reduce_only_without_position: badRequest("There is no opposite position in {symbol} to reduce."),
  nonce_too_old: badRequest(
    "Nonce {nonce} is below the {remembered} highest remembered; use one above {lowest}.",
  ),
  nonce_conflict: conflict(
    "Nonce {nonce} was used by another body, acknowledged as {ackNonce}; use a new nonce.",
  ),
  not_in_cohort: forbidden(
    "This account may not open positions at the present stage ({stage}); reducing is fine.",
  ),
  size_not_on_lot: badRequest(
    "Size {size} is no whole number of lots of {lot}; the nearest are {below} and {above}.",
  ),
  margin_too_small: badRequest(
    "With leverage {leverage} the size needs a margin of {needed}; {margin} was sent.",
  ),
  margin_needed: badRequest("The position needs its margin; at most {largest} can be removed."),
  expiry_out_of_range: badRequest(
    "expiresAt must lie 1 s to 90 days after the venue's time, {time}.",
  ),
  limit_price_outside_band: badRequest(
    "limitPrice {limitPrice} is outside the band {low} to {high} of the trigger price.",
  ),
  exit_price: badRequest("{exit} of a {side} order must be {where} {reference}, {limit}."),
  exits_not_supported: badRequest(
    "{exit} with an order needs engine version 3, this venue runs {version} until its operator upgrades it (perpgate upgrade); send a stop order with closePosition.",
  ),
  too_late: badRequest(
    "validUntil {validUntil} has passed by the venue's time, {time}; nothing was done.",
  ),
  client_order_id_in_use: conflict(
    'An open order of this account has the clientOrderId "{clientOrderId}" already.',
  ),
  close_position_in_use: conflict(
    "{symbol} has an order with closePosition on this side and trigger; amend that one.",
  ),
  order_not_amendable: conflict("Order {order} cannot be amended so: {problem}."),
  position_not_found: notFound("This account has no position in {symbol}."),
  session_not_found: notFound("This account has no live session {id}."),
  order_not_found: notFound("This account has no order {orderId}."),
  order_not_cancelable: conflict("Order {orderId} is already {status}."),
};

const RESOURCE = {
  market_not_found: notFound("No market {symbol}; GET /v1/markets lists them."),
  history_not_kept: status(410)(
    "The venue keeps its history from position {position} on; {seq} is before it.",
  ),
  block_not_found: notFound("Block {number} has not been sealed."),
  preconfirm_not_found: notFound("This account has no acknowledgement {ackNonce}."),
  not_sealed: notFound("Acknowledgement {ackNonce} is not in a sealed block yet."),
  not_in_checkpoint: notFound(
    "No checkpoint covers the block of acknowledgement {ackNonce} yet; ask again in a second.",
  ),
  no_transparency_log: notFound("This venue keeps no transparency log."),
  withdrawals_not_supported: conflict("No withdrawals of {token} on {chain} here."),
  contract_wallet_elsewhere: conflict(
    "The contract that signed in is on chain {chainId}; only there can it be paid.",
  ),
  withdrawal_too_small: badRequest("A withdrawal is at least {min} dollars."),
  insufficient_balance: badRequest(
    "The wallet has {wallet} dollars free; the fee of {fee} comes on top of the amount.",
  ),
  withdrawals_paused: conflict("Withdrawals of {token} on {chain} are paused."),
  reorged_credit: conflict(
    "A deposit of this account left its chain; the operator has to settle it first.",
  ),
  chain_balance_too_small: conflict(
    "Of {token} on {chain} at most {most} dollars can be paid; take another chain or token.",
  ),
  unpaid_withdrawals: conflict(
    "Withdrawals on {chain} wait to be paid; {room} dollars fit now, more when some are.",
  ),
  withdrawal_limit: tooMany("The amount is above the limits of an hour or a day; it fits {when}."),
  withdrawal_not_found: notFound("This account has no withdrawal {withdrawalId}."),
  liability_not_found: notFound("No commitment to what the venue owes has this account yet."),
  deposit_not_found: notFound("This account has no deposit {depositId}."),
  invalid_tx_hash: badRequest("txHash must be 32 bytes of hex, 0x optional."),
  token_not_on_chain: badRequest("{token} on {chain} is not accepted here."),
  too_many_unseen_deposits: tooMany(
    "{limit} hashes of this account are on no chain yet; register more when they are.",
  ),
  attestors_not_configured: notFound(
    "This venue runs the dev attestor; there is nothing to vote on.",
  ),
  attestor_unknown: forbidden("No attestor has the number {attestor} here."),
  attestor_request_outdated: unauthorized(
    "time must lie within {seconds} s of the venue's time, {nowMs}; check the clock.",
  ),
  invalid_vote: badRequest("Vote {index} is not one for this venue: {problem}."),
};

const STREAM = {
  unknown_operation: badRequest('No operation "{op}" on this stream.'),
  unknown_stream: badRequest('No stream "{stream}"; there are {known}.'),
  too_many_streams: badRequest("A socket may hold {limit} streams."),
  too_many_sockets: tooMany("An address may hold {limit} sockets."),
  origin_not_allowed: forbidden('Pages of "{origin}" may open no sockets here.'),
  not_subscribed: badRequest('The stream "{stream}" is not subscribed.'),
};

export const ERROR_TABLE = { ...REQUEST, ...SESSION, ...ORDER, ...RESOURCE, ...STREAM };

export type ErrorCode = keyof typeof ERROR_TABLE;
