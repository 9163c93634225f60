/**
 * docs/errors.md from the error table of packages/protocol: one section a status, one row a code.
 *
 * Takes the table (code → status and message), returns the page. The advice on each code is written
 * here and not in the table, which is also bundled for browsers; a code without advice gets that of
 * its status.
 */

const BY_STATUS = {
  400: [
    "Bad request",
    "Change the request. The same one will be refused again.",
    "Change the request as the message says.",
  ],
  401: ["Not signed in, or not signed", "Sign in, or sign, again.", "Sign in again."],
  403: ["Not allowed", "Another account or another time.", "Ask the operator."],
  404: [
    "Not found",
    "Nothing is there for this caller; what belongs to others looks the same.",
    "Check the name or number.",
  ],
  405: ["Wrong method", "", "Use one of the methods in the `Allow` header."],
  408: ["Too slow", "", "Send the whole request faster; retry."],
  409: ["Conflict", "Something else has already happened.", "Read the state first."],
  410: [
    "No longer kept",
    "The venue keeps its history of the last days.",
    "Ask the operator, who has the log.",
  ],
  413: ["Too large", "", "Send less."],
  415: ["Wrong media type", "", "Set `content-type: application/json`."],
  429: [
    "Too often",
    "Nothing was executed. Retry the same bytes after `Retry-After`.",
    "Wait for `Retry-After` seconds.",
  ],
  431: ["Headers too large", "", "Send fewer headers."],
  500: [
    "Failure of the server",
    "",
    "Retry an order with the same nonce and bytes; report the `requestId`.",
  ],
  503: [
    "Not now",
    "Retry the same request, with the same nonce and bytes, after a pause that grows.",
    "Retry the same request later.",
  ],
};

/** Where more can be said than the message says. */
const ADVICE = {
  invalid_request: "Correct the `field` named in the answer.",
  number_not_exact: "Count nonces upward from a small number or from milliseconds.",
  duplicate_key: "Build the body with a JSON library.",
  rate_limited:
    "Wait for `Retry-After`; watch the `RateLimit` header to stay below. Cancels have a limit of their own.",
  too_many_orders:
    "Cancel some, or deposit; waiting does not help. Orders that cannot rest, and `closePosition`, are not counted.",
  overloaded: "Retry the same bytes with growing pauses; the order was not executed.",
  stopped:
    "An order may or may not be executed: the log may have it already. Retry the same bytes elsewhere or after the restart: one that was executed is answered from the log.",
  not_ready: "Wait; `GET /readyz` says when.",
  internal_error:
    "An order may or may not have been executed: retry with the same nonce and bytes.",
  token_required: "Sign in: `POST /v1/auth/siwe`.",
  invalid_token:
    "Sign in again. Before you repeat an order in the new session, ask `GET /v1/orders?status=all&nonce=…`.",
  invalid_session_key: "Send the raw public key in hex, not PEM or DER.",
  invalid_siwe_message: "Build the message with a library (viem's `createSiweMessage`).",
  siwe_domain_not_allowed: "Use a domain of the venue's `auth.domains`.",
  siwe_message_too_old: "Make and sign the message just before you send it.",
  siwe_message_from_future: "Set the clock of the client.",
  siwe_nonce_used: "Take a new nonce: `GET /v1/auth/nonce`.",
  siwe_nonce_not_issued: "Take the nonce from `GET /v1/auth/nonce` and use it within its time.",
  session_key_mismatch: "Send the key that the message names.",
  session_key_not_bound: "Add the resource to the message; the SDK does.",
  chain_rpc_not_configured: "Sign in with an EOA, or ask the operator for an RPC of that chain.",
  signature_required:
    "Sign the exact bytes you send: serialise once, sign and send the same string.",
  invalid_signature:
    "Compare `details.bodySha256` with the SHA-256 of the bytes you signed: if it differs, the body changed on its way; if not, it is another key.",
  session_key_rotated: "Sign with the new key, same nonce: the refused order consumed nothing.",
  unknown_symbol: "Take the symbol from `GET /v1/markets`.",
  market_halted: "Cancel what rests there; no order is taken, reductions neither.",
  market_reduce_only: "Close or reduce positions there; `reduceOnly` never opens.",
  market_settled: "Trade another market; positions there are paid out.",
  deposit_reorged: "Ask the operator; `GET /v1/bridge/deposits` shows which deposit.",
  stale_index: "Wait for a fresh index; cancels and reductions work meanwhile.",
  index_held:
    "Wait: a second where liquidations follow the jump, some seconds where it must be confirmed. Cancels work meanwhile.",
  price_not_on_tick: "Round to the tick; the message names the nearest prices.",
  price_outside_band: "Move the price inside the band named in the message.",
  stop_would_trigger: "Send a market order, or a stop beyond the mark.",
  size_below_lot: "Raise margin or leverage to the smallest that the message names.",
  notional_too_small: "Raise margin or leverage; orders that only reduce may be smaller.",
  insufficient_margin: "Lower the margin to what the message names, cancel orders, or deposit.",
  leverage_above_tier: "Lower the leverage: larger positions allow less.",
  leverage_limited: "Lower the leverage to what the message names, or try again later.",
  position_limit: "Reduce first.",
  post_only_would_cross: "Move the price away from the opposite side.",
  reduce_only_without_position: "Nothing to close: the position is flat or on the same side.",
  nonce_too_old: "Count nonces upward.",
  nonce_conflict:
    "The nonce is spent: `details.ackNonce` is the order it made. Use a new nonce for a new order.",
  not_in_cohort: "Reduce and cancel; opening waits for the operator's list.",
  order_not_cancelable: "It is already filled or canceled; `GET /v1/orders/{id}`.",
  not_sealed: "Ask again after 200 ms.",
  not_in_checkpoint: "Ask again after a second.",
  no_transparency_log:
    "The operator has turned it off. A venue before 0.2 does not have the path: `not_found`.",
  block_not_found: "Ask again later, or for a smaller number.",
  token_not_on_chain: "Take chain and token from `GET /v1/bridge`.",
  attestors_not_configured: "Attest a venue whose `GET /v1/bridge` lists members.",
  attestor_unknown: "Compare the members of `GET /v1/bridge` with the attestor's public key.",
  attestor_request_outdated: "Set the attestor's clock, and compare the venue's name.",
  invalid_vote: "Send the text of a vote for this venue, to the byte.",
  withdrawal_limit: "Ask for it then; a smaller amount may fit now.",
  withdrawal_too_small: "Ask for more; `GET /v1/bridge` has the minimum.",
  insufficient_balance: "Ask for less, or free margin first.",
  contract_wallet_elsewhere: "Ask for another chain.",
  chain_balance_too_small: "Ask for less, or for another chain or token.",
  unpaid_withdrawals: "Ask for less, or later.",
  withdrawals_paused: "Ask again once `paused` of `GET /v1/bridge` is empty.",
  withdrawals_not_supported: "Take chain and token from `withdrawals` of `GET /v1/bridge`.",
  reorged_credit: "Ask the operator.",
  invalid_tx_hash: "Send the transaction's hash.",
  too_many_streams: "Open a second socket or unsubscribe.",
  too_many_sockets: "Close a socket; one carries many streams.",
  origin_not_allowed: "Ask the operator to list the page's origin in `server.origins`.",
  unknown_stream: "Stream names are in streams.md.",
};

export function errorsPage(table) {
  const codes = Object.entries(table);
  const unknown = Object.keys(ADVICE).filter((code) => !(code in table));
  if (unknown.length > 0) throw new Error(`advice on codes that are none: ${unknown.join(", ")}`);
  const statuses = [...new Set(codes.map(([, { status }]) => status))].sort((a, b) => a - b);
  return [
    "# Errors",
    "",
    "<!-- Made by `npm run docs -- errors` from packages/protocol/src/errors/error-table.ts; not by hand. -->",
    "",
    "Every answer other than 2xx, and every `error` frame of a socket, has one shape:",
    "",
    "```",
    "{code, message, requestId, field?, details?}",
    "```",
    "",
    "`code` is a stable word that states the rule; programs decide by it alone. `message` is for people: the words in braces below are filled in, and those values are also in `details` or `field` where a program may want them. Quote the `requestId` (header `X-Request-Id`) when you report a problem. A refused order consumes nothing, not even its nonce.",
    "",
    ...statuses.flatMap((status) => section(status, codes)),
  ].join("\n");
}

function section(status, codes) {
  const [title = "", about = "", fallback = ""] = BY_STATUS[status] ?? [];
  const rows = codes.filter(([, rule]) => rule.status === status);
  return [
    `## ${[status, title].join(" ").trim()}`,
    "",
    ...(about === "" ? [] : [about, ""]),
    "| code | message | what to do |",
    "| --- | --- | --- |",
    ...rows.map(([code, { message }]) => {
      return `| \`${code}\` | ${cell(message)} | ${cell(ADVICE[code] ?? fallback)} |`;
    }),
    "",
  ];
}

function cell(text) {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
