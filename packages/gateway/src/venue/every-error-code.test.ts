import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { until } from "@perpgate/journal/testing";
import type { ErrorCode } from "@perpgate/protocol";
import { ERROR_CODES, ERROR_TABLE } from "@perpgate/protocol/core";
import { NO_EVIDENCE } from "@perpgate/venue";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type Answer,
  ask,
  jsonPost,
  readUntilClose,
  runGateway,
} from "../testing/running-gateway.js";
import { sampleVenue } from "../testing/sample-venue.js";
import { HeldOrders } from "./testing/held-orders.js";
import { type RunningVenue, runVenue, type VenueChanges } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const STREAM_OPERATIONS = "packages/gateway/src/ws/operations.test.ts";
const HOSTILE_STREAMS = "packages/gateway/src/ws/hostile.test.ts";
const UPGRADES = "packages/gateway/src/ws/upgrade.test.ts";
const QUEUE = "apps/perpgate/src/serve/bridge/deposit-queue.test.ts";
const OPERATOR = "apps/perpgate/src/serve/bridge/bridge-control.test.ts";
const UNANSWERED = "apps/perpgate/src/cluster/outcomes.system.test.ts";
const RECEIPTS = "packages/gateway/src/venue/receipts.test.ts";
const EXTENDED_ORDERS = "packages/gateway/src/venue/extended-orders.test.ts";
const EXITS = "packages/gateway/src/venue/attached-exits.test.ts";
const REBUILDS = "packages/venue/src/recovery/rebuild.system.test.ts";
const WINDOW = "packages/gateway/src/venue/history-window.test.ts";
const WITHDRAWALS = "apps/perpgate/src/serve/bridge/withdrawal-requests.system.test.ts";
const CONTRACTS = "packages/gateway/src/auth/contract-wallets.test.ts";
const ATTESTORS = "apps/perpgate/src/serve/bridge/vote-intake.system.test.ts";

/** Codes of sockets, and of attestors that watch a chain: the test that provokes each. */
const ELSEWHERE: Partial<Record<ErrorCode, string>> = {
  unknown_operation: HOSTILE_STREAMS,
  unknown_stream: STREAM_OPERATIONS,
  too_many_streams: HOSTILE_STREAMS,
  too_many_sockets: UPGRADES,
  origin_not_allowed: UPGRADES,
  not_subscribed: STREAM_OPERATIONS,
  token_not_on_chain: ATTESTORS,
  attestor_unknown: ATTESTORS,
  attestor_request_outdated: QUEUE,
  invalid_vote: ATTESTORS,
  too_many_unseen_deposits: QUEUE,
  deposit_reorged: OPERATOR,
  not_executed: UNANSWERED,
  outcome_unknown: UNANSWERED,
  not_in_checkpoint: RECEIPTS,
  too_many_rows: EXTENDED_ORDERS,
  exit_price: EXITS,
  exits_not_supported: EXITS,
  history_rebuilding: REBUILDS,
  history_not_kept: WINDOW,
  contract_wallet_elsewhere: CONTRACTS,
  withdrawal_too_small: WITHDRAWALS,
  insufficient_balance: WITHDRAWALS,
  withdrawals_paused: WITHDRAWALS,
  reorged_credit: WITHDRAWALS,
  chain_balance_too_small: WITHDRAWALS,
  unpaid_withdrawals: WITHDRAWALS,
  withdrawal_limit: WITHDRAWALS,
};

type Producer = () => Promise<Pick<Answer, "status" | "body">>;

/** Shared by most tests, each with its own trader; a test that changes more runs its own venue. */
const shared = await runVenue({}, afterAll);
const bare = await runGateway({}, afterAll);

async function entered(changes?: VenueChanges): Promise<{ at: RunningVenue; trader: Trader }> {
  const at = changes === undefined ? shared : await runVenue(changes);
  return { at, trader: await Trader.enter(at) };
}

/** A sign-in with these changes to its message, its body or the gateway. */
const signIn =
  (
    fields: Parameters<Trader["message"]>[0] = {},
    body: object = {},
    changes?: VenueChanges,
  ): Producer =>
  async () => {
    const trader = new Trader(changes === undefined ? shared : await runVenue(changes));
    return trader.submitSignIn(trader.message(fields), body);
  };

/** An order with these changes, by an account with 10,000 dollars in an empty BTCUSD at 65,000. */
const order =
  (changes: Parameters<Trader["order"]>[0], plan?: Parameters<Trader["place"]>[1]): Producer =>
  async () => {
    const { trader } = await entered();
    return trader.place(trader.order(changes), plan);
  };

const SIZED = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  size: 0.01,
  leverage: 5,
  price: 60_000,
};
const STOP = { symbol: "BTCUSD", side: "short", type: "stop", price: 60_000 };

/** Orders by size with these changes, one after the other; the last answer. */
function extended(...orders: readonly object[]): Producer {
  return async () => {
    const { trader } = await entered();
    let answer = await trader.signed("/v1/orders", { ...SIZED, ...orders[0], nonce: 1 });
    for (const [i, changes] of orders.slice(1).entries()) {
      answer = await trader.signed("/v1/orders", { ...SIZED, ...changes, nonce: 2 + i });
    }
    return answer;
  };
}

const closing = { ...STOP, size: undefined, closePosition: true };

/** The same by a session whose message has this resource. */
function capped(caps: string): Producer {
  return async () => {
    const trader = new Trader(shared);
    await trader.signIn({ resources: [trader.resource(caps)] });
    return trader.place(trader.order());
  };
}

/** An order in a market under an operator's control. */
function controlled(action: "reduceOnly" | "settle"): Producer {
  return async () => {
    const { at, trader } = await entered({});
    const stampMs = at.venue.nowMs();
    const priceTicks = action === "settle" ? 650_000 : 0;
    const times = { stampMs, expiresAtMs: stampMs + 1_000 };
    const control = { kind: "ControlMarket", ...times, market: 0, action, priceTicks } as const;
    await at.venue.submitted(control, NO_EVIDENCE, () => undefined);
    return trader.place(trader.order());
  };
}

const get =
  (path: string): Producer =>
  async () =>
    (await entered()).trader.get(path);

/** Bytes on a bare connection, the answer read until it closes. */
async function raw(bytes: string, limits: Parameters<typeof runGateway>[0] = {}) {
  const { url } = await runGateway(limits);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  const text = await readUntilClose(socket);
  return { status: Number(text.split(" ")[1]), body: JSON.parse(text.split("\r\n\r\n")[1] ?? "") };
}

const post =
  (path: string, body: string, headers: Record<string, string> = {}): Producer =>
  async () =>
    ask(bare.url + path, jsonPost(body, headers));

const PRODUCERS: Partial<Record<ErrorCode, Producer>> = {
  invalid_request: order({ margin: -1 }),
  unknown_parameter: get("/v1/fills?count=1"),
  malformed_json: post("/v1/orders", "{"),
  duplicate_key: post("/v1/orders", '{"nonce":1,"nonce":2}'),
  forbidden_key: post("/v1/orders", '{"__proto__":1}'),
  number_not_exact: post("/v1/orders", '{"nonce":9007199254740993}'),
  malformed_request: () => raw("not http\r\n\r\n"),
  malformed_uri: async () => ask(`${bare.url}/v1/markets/%E0%A4/book`),
  not_found: async () => ask(`${bare.url}/nope`),
  method_not_allowed: async () => ask(`${bare.url}/v1/orders`, { method: "PUT" }),
  request_timeout: () =>
    raw("GET / HTTP/1.1\r\nx: ", {
      limits: { headersTimeoutMs: 50, requestTimeoutMs: 60, timeoutCheckIntervalMs: 10 },
    }),
  body_too_large: post("/v1/orders", " ".repeat(70_000)),
  unsupported_media_type: post("/v1/orders", "{}", { "content-type": "text/plain" }),
  headers_too_large: () => raw(`GET / HTTP/1.1\r\nx: ${"a".repeat(20_000)}`),
  rate_limited: async () => {
    const { trader } = await entered({ limits: { ordersBurst: 1, ordersPerSecond: 0.01 } });
    await trader.place(trader.order());
    const limited = await trader.place(trader.order());
    // One order in 100 s; the seconds that passed since the first are not known.
    const seconds = limited.headers.get("retry-after");
    expect(seconds).toMatch(/^(100|[5-9]\d)$/);
    expect(limited.headers.get("ratelimit")).toBe(`"orders";r=0;t=${seconds}`);
    return limited;
  },
  internal_error: async () => {
    const getBook = () => Promise.reject(new Error("broken"));
    const { edge } = await sampleVenue({ getBook });
    return ask(`${(await runGateway({ edge })).url}/v1/markets/BTCUSD/book`);
  },
  overloaded: async () => {
    const { trader } = await entered({ limits: { pendingOrders: 0 } });
    return trader.place(trader.order());
  },
  stopped: async () => {
    const { at, trader } = await entered({});
    await at.venue.close();
    return trader.place(trader.order());
  },
  not_ready: async () => {
    const probe = { name: "index", notReadyReason: () => "no index" };
    return ask(`${(await runGateway({ readiness: [probe] })).url}/readyz`);
  },
  venue_unavailable: async () => ask(`${bare.url}/v1/markets/BTCUSD/book`),

  token_required: async () => ask(`${shared.url}/v1/positions`),
  invalid_token: async () =>
    ask(`${shared.url}/v1/positions`, { headers: { authorization: "Bearer x" } }),
  invalid_session_key: signIn({}, { sessionKey: `01${"00".repeat(31)}` }),
  invalid_siwe_message: signIn({ version: "2" }),
  siwe_domain_not_allowed: signIn({}, {}, { signIn: { domains: new Set(["a.example"]) } }),
  siwe_domain_mismatch: signIn({ uri: "http://elsewhere" }),
  siwe_chain_not_allowed: signIn({ chainId: 5 }, {}, { signIn: { chainIds: new Set([1]) } }),
  siwe_message_too_old: signIn({ issuedAt: "2026-06-01T11:40:00Z" }),
  siwe_message_from_future: signIn({ issuedAt: "2026-06-01T12:10:00Z" }),
  siwe_message_expired: signIn({ expirationTime: "2026-06-01T11:59:00Z" }),
  siwe_message_not_yet_valid: signIn({ notBefore: "2026-06-01T12:01:00Z" }),
  siwe_nonce_used: async () => {
    const trader = new Trader(shared);
    const message = trader.message();
    await trader.submitSignIn(message);
    return trader.submitSignIn(message);
  },
  siwe_nonce_not_issued: signIn({}, {}, { signIn: { nonce: "issued" } }),
  session_key_mismatch: async () => {
    const [bound, other] = [new Trader(shared), new Trader(shared)];
    return bound.signIn({ resources: [other.resource()] });
  },
  session_key_not_bound: signIn({}, {}, { signIn: { requireKeyBinding: true } }),
  chain_rpc_not_configured: signIn({}, { signature: `0x${"12".repeat(200)}` }),
  signature_required: order({}, "none"),
  invalid_signature: order({}, { header: "00".repeat(64) }),
  session_key_rotated: async () => {
    // A rotation that overtakes an order between its check and the log.
    const held = new HeldOrders();
    const { trader } = await entered({ held });
    held.hold();
    const placed = trader.place(trader.order());
    await until(() => held.waiting === 1);
    expect((await trader.rotate(newSessionKey().publicHex)).status).toBe(200);
    held.release();
    return placed;
  },
  session_symbol_not_allowed: capped("&symbols=ETHUSD"),
  session_order_cap_exceeded: capped("&maxOrderNotional=10"),
  session_notional_cap_exceeded: capped("&maxNotional=10"),

  unknown_symbol: order({ symbol: "DOGEUSD" }),
  market_halted: async () => {
    // No client can cause it: an index at which positions can no longer be valued in safe integers.
    const { at, trader } = await entered({});
    const other = await Trader.enter(at);
    // After ten seconds without an index the next one is taken as it is.
    await at.advance(10_400);
    await at.setIndex("BTCUSD", 6_500);
    await at.advance(200);
    await other.place(other.limit("short", 6_500, { margin: 9_000, leverage: 10 }));
    const filled = await trader.place(trader.limit("long", 6_500, { margin: 9_000, leverage: 10 }));
    expect(filled.body.status).toBe("filled");
    await at.advance(10_400);
    await at.setIndex("BTCUSD", 2 ** 33 / 10);
    await at.advance(200);
    return trader.place(trader.limit("long", 6_500));
  },
  market_reduce_only: controlled("reduceOnly"),
  market_settled: controlled("settle"),
  stale_index: async () => {
    const { at, trader } = await entered({});
    await at.advance(10_400);
    return trader.place(trader.order());
  },
  index_held: async () => {
    const { at, trader } = await entered({});
    await at.setIndex("BTCUSD", 80_000);
    return trader.place(trader.order());
  },
  price_required: order({ type: "limit" }),
  price_not_on_tick: order({ type: "limit", price: 65_000.05 }),
  price_outside_band: order({ type: "limit", price: 70_000 }),
  price_too_far: order({ type: "limit", price: 1_000 }),
  stop_would_trigger: order({ type: "stop", price: 64_000 }),
  size_below_lot: async () => {
    const { trader } = await entered();
    const [small, belowMicro] = [
      await trader.place(trader.order({ margin: 0.01 })),
      await trader.place(trader.order({ margin: 0.000_000_1 })),
    ];
    // What passes is the same, however little was sent.
    expect({ ...belowMicro.body, requestId: "" }).toEqual({ ...small.body, requestId: "" });
    return small;
  },
  notional_too_small: order({ margin: 0.07, leverage: 10 }),
  insufficient_margin: order({ margin: 20_000 }),
  leverage_above_maximum: order({ leverage: 51 }),
  leverage_above_tier: async () => {
    const { trader } = await entered();
    return trader.place(trader.limit("long", 65_000, { margin: 30_000, leverage: 50 }));
  },
  leverage_limited: async () => {
    // Without a fund any open position at more than 10 is too much for another one.
    const { at, trader } = await entered({ parameters: { fundSeed: 0 } });
    const other = await Trader.enter(at);
    await other.place(other.limit("short", 65_000, { leverage: 20 }));
    await trader.place(trader.limit("long", 65_000, { leverage: 20 }));
    return trader.place(trader.limit("long", 64_000, { leverage: 20 }));
  },
  position_limit: order({ type: "limit", price: 65_000, margin: 3_000_000, leverage: 10 }),
  notional_limit: order({ margin: 999_999_999, leverage: 50 }),
  open_order_limit: async () => {
    const { trader } = await entered({ parameters: { maxOpenOrders: 1 } });
    await trader.place(trader.limit("long", 60_000));
    return trader.place(trader.limit("long", 60_000));
  },
  too_many_orders: async () => {
    const { trader } = await entered({ parameters: { devCredit: 10 } });
    for (let i = 0; i < 21; i++) await trader.place(trader.limit("long", 60_000, { margin: 0.4 }));
    return trader.place(trader.limit("long", 60_000, { margin: 0.4 }));
  },
  post_only_would_cross: async () => {
    const { trader } = await entered();
    await trader.place(trader.limit("short", 65_000));
    return trader.place(trader.limit("long", 65_000, { postOnly: true }));
  },
  post_only_needs_limit: order({ postOnly: true }),
  reduce_only_without_position: order({ reduceOnly: true }),
  nonce_too_old: async () => {
    const { trader } = await entered({ parameters: { maxOpenOrders: 5_000 } });
    const place = (nonce: number) => trader.place(trader.order({ nonce }));
    for (let from = 1; from <= 1_024; from += 64) {
      await Promise.all(Array.from({ length: 64 }, (_, i) => place(from + i)));
    }
    const operations = [
      { op: "cancel", orderId: "1" },
      { op: "place", ...trader.limit("long", 60_000.05), nonce: undefined },
    ];
    const batch = await trader.signed("/v1/orders/batch", { nonce: 0, operations });
    const tooOld = { status: 400, error: { code: "nonce_too_old" } };
    expect(Object(batch.body).results).toMatchObject([tooOld, tooOld]);
    return place(0);
  },
  nonce_conflict: async () => {
    const { trader } = await entered();
    await trader.place(trader.order({ nonce: 1 }));
    return trader.place(trader.order({ nonce: 1, margin: 7 }));
  },
  not_in_cohort: async () => {
    const { trader } = await entered({ cohort: "closed" });
    const answer = await trader.place(trader.order());
    expect(answer.body).toMatchObject({ field: "symbol", details: { stage: "closed" } });
    return answer;
  },
  size_not_on_lot: async () => {
    const { trader } = await entered();
    const answer = await trader.signed("/v1/orders", { ...trader.order(), size: 0.000_015 });
    expect(answer.body).toMatchObject({
      field: "size",
      details: { lot: 0.00001, below: 0.00001, above: 0.00002 },
    });
    return answer;
  },
  margin_too_small: extended({ margin: 1 }),
  expiry_out_of_range: extended({ expiresAt: 1 }),
  too_late: extended({ validUntil: 1 }),
  client_order_id_in_use: extended({ clientOrderId: "a" }, { clientOrderId: "a" }),
  close_position_in_use: extended({}, closing, closing),
  limit_price_outside_band: extended({ ...STOP, limitPrice: 50_000 }),
  position_not_found: async () => {
    const { trader } = await entered();
    const body = { symbol: "BTCUSD", amount: 1, nonce: 1 };
    return trader.signed("/v1/positions/BTCUSD/margin", body);
  },
  margin_needed: async () => {
    const { at, trader } = await entered({});
    const other = await Trader.enter(at);
    await other.place(other.limit("short", 65_000));
    await trader.place(trader.order());
    const body = { symbol: "BTCUSD", amount: -99, nonce: 99 };
    return trader.signed("/v1/positions/BTCUSD/margin", body);
  },
  order_not_amendable: async () => {
    const { trader } = await entered();
    const { orderId } = (await trader.place(trader.limit("long", 60_000))).body;
    await trader.cancel(orderId);
    return trader.signed(`/v1/orders/${orderId}/amend`, { orderId, price: 60_001, nonce: 9 });
  },
  order_not_found: get("/v1/orders/999"),
  session_not_found: async () => (await entered()).trader.delete("/v1/auth/sessions/999"),
  order_not_cancelable: async () => {
    const { trader } = await entered();
    const { orderId } = (await trader.place(trader.limit("long", 60_000))).body;
    await trader.cancel(orderId);
    return trader.cancel(orderId);
  },

  lagging: async () => {
    const { at } = await entered();
    const headers = { "perpgate-min-position": String(at.venue.seq + 1_000_000) };
    return ask(`${at.url}/v1/markets`, { headers });
  },
  market_not_found: get("/v1/markets/DOGEUSD/book"),
  block_not_found: get("/v1/blocks/999"),
  preconfirm_not_found: get("/v1/preconfirms/999"),
  not_sealed: async () => {
    const { trader } = await entered();
    const { ackNonce } = (await trader.place(trader.order())).body;
    return trader.get(`/v1/preconfirms/${ackNonce}`);
  },
  no_transparency_log: get("/v1/honesty"),
  attestors_not_configured: async () => {
    const { trader } = await entered();
    return trader.send("/v1/bridge/votes", { votes: [{ text: "v", signature: "00" }] });
  },
  deposit_not_found: get("/v1/bridge/deposits/999"),
  withdrawals_not_supported: async () => {
    const { trader } = await entered();
    const body = { chain: "ethereum", token: "USDC", amount: 10, nonce: 1 };
    return trader.signed("/v1/bridge/withdrawals", body);
  },
  withdrawal_not_found: get("/v1/bridge/withdrawals/999"),
  liability_not_found: get("/v1/account/liability"),
  invalid_tx_hash: async () => {
    const { trader } = await entered();
    return trader.send("/v1/bridge/deposit", { chain: "tron", txHash: "0x12", token: "USDT" });
  },
};

describe("the error table", () => {
  test("every code is produced here, or belongs elsewhere for a reason", () => {
    const known = [...Object.keys(PRODUCERS), ...Object.keys(ELSEWHERE)];
    expect(known.sort()).toEqual([...ERROR_CODES].sort());
  });

  test.each(Object.entries(ELSEWHERE))("%s: expected by %s", (code, file) => {
    const text = readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8");
    expect(text).toMatch(new RegExp(`"${code}"`));
  });

  test.each(Object.entries(PRODUCERS))("%s", async (code, produce) => {
    const { status, body } = await produce();
    expect(body, JSON.stringify(body)).toMatchObject({
      code,
      message: expect.any(String),
      requestId: expect.any(String),
    });
    const { status: expected } =
      Object.entries(ERROR_TABLE).find(([name]) => name === code)?.[1] ?? {};
    expect(status).toBe(expected);
    expect(String(body.message)).not.toMatch(/\{\w+\}|undefined|NaN|null/);
  });
});
