/**
 * The examples of docs/api.md: each is asked of a real venue behind a real gateway, in the order of
 * the page, and written down as a curl command with the answer that came.
 *
 * Everything but keys, tokens, hashes and measured time is the same in every run; those are
 * shortened to what they look like.
 */
import { DEFAULT_LIMITS } from "../../limits/limit-settings.js";
import { type Answer, ask } from "../../testing/running-gateway.js";
import { type RunningVenue, runVenue, START_MS } from "./running-venue.js";
import { newSessionKey, Trader } from "./trader.js";

/** By name, the text below the mark of the page. */
export type Examples = ReadonlyMap<string, string>;

const TX_HASH = `0x${"c0ffee".padEnd(64, "0")}`;
/** Fields whose values differ from run to run, and what the page shows instead. */
const UNSTEADY: Readonly<Record<string, unknown>> = {
  token: "q0X…",
  message: "localhost wants you to sign in with your Ethereum account:\\n0x52c…",
  signature: "0x8d1f…",
  sessionKey: "7f3a…",
  newSessionKey: "7f3a…",
  address: "0x52c…",
  account: "0x52c…",
  requestId: "7805d591-…",
  elapsedMs: 1.742,
  linkMs: 0.413,
  hash: "0xb62f…",
  parentHash: "0xa266…",
  acksRoot: "0x91d0…",
  ackListHash: "0x3c5e…",
  eventsHash: "0x3c77…",
  bodySha256: "e3b0…",
  fingerprint: "44ad…",
  nonceIssued: "MS4x…",
  version: "0.2.0-testnet",
};

interface Call {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly by?: Trader;
  /** The JSON text of the body. */
  readonly body?: string;
  readonly isSigned?: boolean;
  /** A signature other than the right one. */
  readonly signature?: string;
  /** Answer headers that the page shows. */
  readonly headers?: readonly string[];
  /** Elements that the page shows of an answer that is a list. */
  readonly show?: number;
}

class Walk {
  readonly examples = new Map<string, string>();

  constructor(private readonly at: RunningVenue) {}

  async call(name: string, call: Call): Promise<Answer> {
    const { method = "GET", path, by, body } = call;
    const signature = signatureOf(call);
    const answer = await ask(this.at.url + path, {
      method,
      headers: {
        ...(by === undefined ? {} : by.bearer()),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(signature === undefined ? {} : { "x-service-sig": signature }),
      },
      ...(body === undefined ? {} : { body }),
    });
    this.examples.set(name, this.written(call, answer));
    return answer;
  }

  private written(call: Call, answer: Answer): string {
    const { headers = [], show = 1 } = call;
    const shown = headers.map((name) => `${name}: ${answer.headers.get(name)}`);
    const isPlain = answer.status === 200 && shown.length === 0;
    const head = isPlain ? [] : [`HTTP/1.1 ${answer.status}`, ...shown];
    const value: unknown = JSON.parse(answer.text);
    return ["```", `$ ${commandOf(call)}`, ...head, jsonLines(value, show), "```"].join("\n");
  }
}

function signatureOf({ by, body, isSigned, signature }: Call): string | undefined {
  if (signature !== undefined) return signature;
  return isSigned ? by?.signatureOf(body ?? "")["x-service-sig"] : undefined;
}

function commandOf({ method = "GET", path, by, body, isSigned, signature }: Call): string {
  const isQuoted = /[?&]/.test(path);
  const parts = [
    `curl -s${method === "GET" ? "" : ` -X ${method}`} ${isQuoted ? `"$V${path}"` : `$V${path}`}`,
  ];
  if (by !== undefined) parts.push(`-H "authorization: Bearer $TOKEN"`);
  if (isSigned || signature !== undefined) parts.push(`-H "x-service-sig: $SIG"`);
  if (body !== undefined) {
    parts.push("-H 'content-type: application/json'", `-d '${steadyText(JSON.parse(body))}'`);
  }
  return parts.join(" \\\n    ");
}

/** One key a line at the top, one element a line in a list, everything below on one line. */
function jsonLines(value: unknown, show: number): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    const lines = value.slice(0, show).map((element) => ` ${steadyText(element)}`);
    return `[${lines.join(",\n").trimStart()}${value.length > show ? ",\n …" : ""}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([key, inner]) => `${JSON.stringify(key)}: ${steadyText(steady(key, inner))}`,
  );
  return `{${lines.join(",\n ")}}`;
}

function steadyText(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => steady(key, inner)).replaceAll(
    "\\\\n",
    "\\n",
  );
}

function steady(key: string, value: unknown): unknown {
  // Elsewhere it is a sentence that is the same in every run.
  if (key === "message" && typeof value === "string" && !value.includes("wants you to")) {
    return value.replaceAll(/\b[0-9a-f]{64}\b/g, "44ad…");
  }
  if (key === "nonce" && typeof value === "string") return UNSTEADY.nonceIssued;
  if (key === "leaf") return `${String(value).slice(0, 18)}…`;
  if (key === "path" && Array.isArray(value)) return value.map(() => "0x5be1…");
  // USDC is a token too.
  if (key === "token" && String(value).length < 10) return value;
  return key in UNSTEADY && typeof value !== "object" ? UNSTEADY[key] : value;
}

/** The whole walk of the page. */
export async function walk(): Promise<Examples> {
  // Shortly before a full hour, so that there is some funding to show.
  const at = await runVenue({ startMs: START_MS + 3_599_700, limits: DEFAULT_LIMITS });
  const page = new Walk(at);
  const maker = await Trader.enter(at);
  const alice = new Trader(at);
  await signingIn(at, page, alice);
  for (const [side, price] of [
    ["short", 65_010],
    ["short", 65_020],
    ["long", 64_990],
  ] as const) {
    await maker.place(maker.limit(side, price, { margin: 2_000, leverage: 1 }));
  }
  await trading(at, page, alice);
  await reading(at, page, alice);
  await depositing(at, page, alice);
  await refusals(page, alice);
  await ending(page, alice);
  return page.examples;
}

async function signingIn(at: RunningVenue, page: Walk, alice: Trader): Promise<void> {
  await page.call("nonce", { path: "/v1/auth/nonce" });
  const message = alice.message();
  const body = JSON.stringify({
    message,
    signature: await alice.wallet.signMessage({ message }),
    sessionKey: alice.sessionKey.publicHex,
  });
  const { body: answer } = await page.call("sign-in", {
    method: "POST",
    path: "/v1/auth/siwe",
    body,
  });
  alice.token = String(answer.token);
  await at.advance(200);
}

async function trading(at: RunningVenue, page: Walk, alice: Trader): Promise<void> {
  const order = (changes: object): string => JSON.stringify(changes);
  const place = (name: string, body: string, more: Partial<Call> = {}) =>
    page.call(name, {
      method: "POST",
      path: "/v1/orders",
      by: alice,
      body,
      isSigned: true,
      ...more,
    });
  const first = order({
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 100,
    leverage: 10,
    nonce: 1,
  });
  const { body: ack } = await place("order", first);
  await place("order again", first, { headers: ["idempotent-replay"] });
  const other = order({
    symbol: "BTCUSD",
    side: "long",
    type: "market",
    margin: 200,
    leverage: 10,
    nonce: 1,
  });
  await place("nonce conflict", other);
  const resting = await place(
    "resting order",
    order({
      symbol: "BTCUSD",
      side: "short",
      type: "limit",
      margin: 50,
      leverage: 10,
      price: 65_100,
      postOnly: true,
      nonce: 2,
    }),
  );
  await page.call("orders", { path: "/v1/orders", by: alice });
  await page.call("orders by nonce", { path: "/v1/orders?status=all&nonce=1", by: alice });
  await page.call("order by id", { path: `/v1/orders/${ack.orderId}`, by: alice });
  const { orderId } = resting.body;
  await page.call("cancel", { method: "POST", path: `/v1/orders/${orderId}/cancel`, by: alice });
  await page.call("cancel again", {
    method: "POST",
    path: `/v1/orders/${orderId}/cancel`,
    by: alice,
  });
  const post = (name: string, path: string, body: object) =>
    page.call(name, { method: "POST", path, by: alice, body: JSON.stringify(body) });
  await alice.place({ ...alice.limit("long", 64_000), nonce: 3 });
  await post("cancel after", "/v1/orders/cancel-after", { afterMs: 5_000 });
  await post("cancel all", "/v1/orders/cancel-all", { symbol: "BTCUSD" });
  await post("cancel after off", "/v1/orders/cancel-after", { afterMs: 0 });
  await at.advance(200);
  await page.call("preconfirm", { path: `/v1/preconfirms/${ack.ackNonce}`, by: alice });
  await page.call("block", { path: `/v1/blocks/${ack.expectedBlock}` });
  await page.call("latest-block", { path: "/v1/blocks/latest" });
}

async function reading(at: RunningVenue, page: Walk, alice: Trader): Promise<void> {
  const market = "/v1/markets/BTCUSD";
  await page.call("account", { path: "/v1/account", by: alice });
  await page.call("positions", { path: "/v1/positions", by: alice });
  await page.call("fills", { path: "/v1/fills?limit=1", by: alice });
  await page.call("ledger", { path: "/v1/ledger", by: alice, show: 2 });
  await page.call("funding payments", { path: "/v1/funding-payments", by: alice });
  await page.call("markets", { path: "/v1/markets", headers: ["ratelimit-policy"] });
  await page.call("book", { path: `${market}/book?depth=2` });
  await page.call("ticker", { path: `${market}/ticker` });
  await page.call("tickers", { path: "/v1/tickers" });
  await page.call("unknown-parameter", { path: `${market}/trades?count=1` });
  await page.call("trades", { path: `${market}/trades?limit=1` });
  await page.call("candles", { path: `${market}/candles?resolution=1m&limit=1` });
  await page.call("funding", { path: `${market}/funding?limit=1` });
  await page.call("time", { path: "/v1/time" });
  await page.call("status", { path: "/v1/status" });
  await page.call("health", { path: "/healthz" });
  await page.call("readiness", { path: "/readyz" });
  await at.advance(200);
}

async function depositing(at: RunningVenue, page: Walk, alice: Trader): Promise<void> {
  const body = JSON.stringify({ chain: "arbitrum", txHash: TX_HASH, token: "USDC" });
  const deposit = { method: "POST", path: "/v1/bridge/deposit", by: alice, body } as const;
  const { body: queued } = await page.call("deposit", deposit);
  await at.advance(600);
  await page.call("deposit by id", { path: `/v1/bridge/deposits/${queued.depositId}`, by: alice });
  await page.call("bridge", { path: "/v1/bridge" });
}

async function refusals(page: Walk, alice: Trader): Promise<void> {
  const body = (price: number): string =>
    JSON.stringify({
      symbol: "BTCUSD",
      side: "long",
      type: "limit",
      margin: 50,
      leverage: 10,
      price,
      nonce: 9,
    });
  const order = { method: "POST", path: "/v1/orders", by: alice } as const;
  await page.call("not on the tick", { ...order, body: body(64_000.05), isSigned: true });
  await page.call("without signature", { ...order, body: body(64_000) });
  await page.call("wrong signature", { ...order, body: body(64_000), signature: "00".repeat(64) });
  await page.call("wrong shape", { path: "/v1/markets/BTCUSD/book?depth=ten" });
}

async function ending(page: Walk, alice: Trader): Promise<void> {
  const next = newSessionKey();
  const body = JSON.stringify({ newSessionKey: next.publicHex });
  const rotate = {
    method: "POST",
    path: "/v1/auth/rotate",
    by: alice,
    body,
    isSigned: true,
  } as const;
  await page.call("rotate", rotate);
  await page.call("sessions", { path: "/v1/auth/sessions", by: alice });
  const others = { method: "DELETE", path: "/v1/auth/sessions", by: alice } as const;
  const signature = alice.signatureOf("DELETE /v1/auth/sessions")["x-service-sig"] ?? "";
  await page.call("end others", { ...others, signature });
  await page.call("sign out", { method: "DELETE", path: "/v1/auth/session", by: alice });
}
