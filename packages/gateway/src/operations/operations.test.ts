import { createHash } from "node:crypto";
import { OPERATIONS, type Operation } from "@perpgate/protocol/operations";
import { Ajv } from "ajv";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ask, BEARER, jsonPost, runGateway } from "../testing/running-gateway.js";
import { SAMPLE_KEY, sampleSignature, sampleSignIn } from "../testing/sample-session.js";
import { SAMPLE_ACK } from "../testing/sample-values.js";
import { sampleVenue } from "../testing/sample-venue.js";
import { HANDLERS } from "./index.js";

const HASH = `0x${"ab".repeat(32)}`;
const KEY = Buffer.from(SAMPLE_KEY).toString("hex");
const FINGERPRINT = createHash("sha256").update(SAMPLE_KEY).digest("hex");
const PROOF = { key: FINGERPRINT, signature: expect.any(Uint8Array) };
const SIGN_IN = await sampleSignIn();
const ORDER = { symbol: "BTCUSD", side: "long", type: "limit", margin: 5, leverage: 5, nonce: 1 };
const AMENDMENT_OF_BATCH = { op: "amend", orderId: "42", price: 65_000 };
const AMENDMENT = { orderId: "42", price: 65_000, nonce: 2 };
const BATCH = { nonce: 3, operations: [AMENDMENT_OF_BATCH, { op: "cancel", orderId: "42" }] };
const WITHDRAWING = { chain: "ethereum", token: "USDC", amount: 25, nonce: 5 };
const MARGIN = { symbol: "BTCUSD", amount: 50, nonce: 4 };
const QUEUE_REQUEST = {
  venue: "perpgate-testnet",
  attestor: 1,
  chain: "ethereum",
  queue: "pending",
  order: "ascending",
  after: "0",
  since: 0,
  time: 1_700_000_000_000,
};

/** What the core is sent of a signed request, here without a signature. */
function signedBy(body: object, parsed: object = body): object {
  const bytes = Buffer.from(JSON.stringify(body));
  return { session: 7, key: FINGERPRINT, body: parsed, bytes, signature: undefined };
}

const BTC = { symbol: "BTCUSD" };

/** What the core is asked for a read that anybody may make. */
function asking(name: string, params: object = {}, query: object = {}): unknown[] {
  return [name, { params, query }];
}

/** What the core is asked for a read of the caller's account. */
function askingFor(name: string, params: object = {}, query: object = {}): unknown[] {
  return [name, { session: 7, params, query }];
}

interface Request {
  readonly path?: string;
  readonly body?: object;
  /** What the client signs, if not its body. */
  readonly signs?: string;
  readonly asked: unknown[];
}

/** For each operation that needs the venue: a path, a body, and what the venue must be asked. */
const REQUESTS: Readonly<Record<string, Request>> = {
  signIn: {
    body: SIGN_IN,
    asked: [
      "signIn",
      expect.objectContaining({
        message: Buffer.from(SIGN_IN.message),
        publicKey: SAMPLE_KEY,
        nonce: "nonce0001",
      }),
    ],
  },
  rotateSession: {
    body: { newSessionKey: KEY },
    asked: [
      "rotateSession",
      {
        session: 7,
        key: FINGERPRINT,
        newPublicKey: SAMPLE_KEY,
        bytes: Buffer.from(JSON.stringify({ newSessionKey: KEY })),
        signature: undefined,
      },
    ],
  },
  endSession: { asked: ["endSession", { session: 7 }] },
  getSessions: { asked: ["getSessions", { session: 7 }] },
  endSessionById: {
    path: "/v1/auth/sessions/41",
    signs: "DELETE /v1/auth/sessions/41",
    asked: ["endSessionById", { session: 7, id: "41", proof: PROOF }],
  },
  endOtherSessions: {
    signs: "DELETE /v1/auth/sessions",
    asked: ["endOtherSessions", { session: 7, proof: PROOF }],
  },
  getAccount: { asked: askingFor("getAccount") },
  placeOrder: {
    body: ORDER,
    asked: ["placeOrder", signedBy(ORDER, { ...ORDER, reduceOnly: false, postOnly: false })],
  },
  amendOrder: {
    path: "/v1/orders/42/amend",
    body: AMENDMENT,
    asked: ["amendOrder", { id: "42", ...signedBy(AMENDMENT) }],
  },
  cancelOrder: {
    path: "/v1/orders/42/cancel",
    asked: ["cancelOrder", { session: 7, body: { orderId: "42" } }],
  },
  placeBatch: {
    path: "/v1/orders/batch",
    body: BATCH,
    asked: ["placeBatch", signedBy(BATCH)],
  },
  changeMargin: {
    path: "/v1/positions/BTCUSD/margin",
    body: MARGIN,
    asked: ["changeMargin", signedBy(MARGIN)],
  },
  cancelNamedOrder: {
    path: "/v1/orders/cancel",
    body: { clientOrderId: "bid-1" },
    asked: ["cancelOrder", { session: 7, body: { clientOrderId: "bid-1" } }],
  },
  cancelAllOrders: {
    body: { symbol: "BTCUSD" },
    asked: ["cancelAllOrders", { session: 7, symbol: "BTCUSD" }],
  },
  cancelOrdersAfter: {
    body: { afterMs: 5000 },
    asked: ["cancelOrdersAfter", { session: 7, afterMs: 5000 }],
  },
  getOrders: {
    path: "/v1/orders?status=all&nonce=7&symbol=BTCUSD&limit=5000&after=41&from=1&to=2",
    asked: askingFor(
      "getOrders",
      {},
      { status: "all", nonce: 7, symbol: "BTCUSD", limit: 1000, after: "41", from: 1, to: 2 },
    ),
  },
  getOrder: { path: "/v1/orders/42", asked: askingFor("getOrder", { id: "42" }) },
  getPositions: { asked: askingFor("getPositions") },
  getFills: {
    path: "/v1/fills?before=42-0&after=41&symbol=BTCUSD",
    asked: askingFor("getFills", {}, { limit: 100, before: "42-0", after: "41", symbol: "BTCUSD" }),
  },
  getLedger: {
    path: "/v1/ledger?symbol=BTCUSD&limit=2&after=41-7",
    asked: askingFor("getLedger", {}, { symbol: "BTCUSD", limit: 2, after: "41-7" }),
  },
  getFundingPayments: {
    path: "/v1/funding-payments?from=5",
    asked: askingFor("getFundingPayments", {}, { limit: 100, from: 5 }),
  },
  getPreconfirm: {
    path: "/v1/preconfirms/42",
    asked: askingFor("getPreconfirm", { ackNonce: "42" }),
  },
  getPreconfirmProof: {
    path: "/v1/preconfirms/42/proof",
    asked: askingFor("getPreconfirmProof", { ackNonce: "42" }),
  },
  getHonesty: { asked: asking("getHonesty") },
  getBook: { path: "/v1/markets/BTCUSD/book", asked: asking("getBook", BTC, { depth: 50 }) },
  getTicker: { path: "/v1/markets/BTCUSD/ticker", asked: asking("getTicker", BTC) },
  getTickers: { asked: asking("getTickers") },
  getTime: { asked: asking("getTime") },
  getStatus: { asked: ["getStatus", {}] },
  getLatestBlock: { asked: asking("getLatestBlock") },
  getTrades: {
    path: "/v1/markets/BTCUSD/trades?limit=3",
    asked: asking("getTrades", BTC, { limit: 3 }),
  },
  getCandles: {
    path: "/v1/markets/BTCUSD/candles?resolution=4h&before=99&from=7",
    asked: asking("getCandles", BTC, {
      resolution: "4h",
      price: "trades",
      limit: 100,
      before: 99,
      from: 7,
    }),
  },
  getFunding: {
    path: "/v1/markets/BTCUSD/funding",
    asked: asking("getFunding", BTC, { limit: 100 }),
  },
  getBlock: { path: "/v1/blocks/7", asked: asking("getBlock", { number: "7" }) },
  registerDeposit: {
    body: { chain: "tron", txHash: HASH, token: "USDT" },
    asked: ["registerDeposit", { session: 7, chain: "tron", txHash: HASH.slice(2), token: "USDT" }],
  },
  getDeposits: {
    path: "/v1/bridge/deposits?limit=2",
    asked: askingFor("getDeposits", {}, { limit: 2 }),
  },
  getDeposit: { path: "/v1/bridge/deposits/43", asked: askingFor("getDeposit", { id: "43" }) },
  requestWithdrawal: {
    path: "/v1/bridge/withdrawals",
    body: WITHDRAWING,
    asked: ["requestWithdrawal", signedBy(WITHDRAWING)],
  },
  getWithdrawals: {
    path: "/v1/bridge/withdrawals?limit=2",
    asked: askingFor("getWithdrawals", {}, { limit: 2 }),
  },
  getWithdrawal: {
    path: "/v1/bridge/withdrawals/43",
    asked: askingFor("getWithdrawal", { id: "43" }),
  },
  getOpenWithdrawals: {
    path: "/v1/bridge/withdrawals/open?chain=ethereum&after=7",
    asked: asking("getOpenWithdrawals", {}, { chain: "ethereum", after: "7" }),
  },
  getReserves: { asked: asking("getReserves") },
  getLiability: { asked: askingFor("getLiability") },
  getBridge: { asked: asking("getBridge") },
  submitDepositVotes: {
    body: { votes: [{ text: "v", signature: "00" }] },
    asked: ["submitDepositVotes", { body: { votes: [{ text: "v", signature: "00" }] } }],
  },
  getDepositQueue: {
    body: QUEUE_REQUEST,
    asked: [
      "getDepositQueue",
      {
        body: QUEUE_REQUEST,
        bytes: Buffer.from(JSON.stringify(QUEUE_REQUEST)),
        signature: undefined,
      },
    ],
  },
};

const venueOperations = OPERATIONS.filter((operation) => operation.needsVenue);

function requestOf(operation: Operation): { path: string; init: RequestInit } {
  const { path = operation.path, body, signs } = REQUESTS[operation.id] ?? {};
  if (body !== undefined) return { path, init: jsonPost(JSON.stringify(body)) };
  const signed = signs === undefined ? {} : { "x-service-sig": sampleSignature(signs) };
  return { path, init: { method: operation.method, headers: { ...BEARER, ...signed } } };
}

const { edge, calls } = await sampleVenue();
const attached = await runGateway({ edge }, afterAll);
const detached = await runGateway({}, afterAll);
beforeEach(() => {
  calls.length = 0;
});

describe("operations", () => {
  test("ids, methods on a path and handlers: each once", () => {
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
    const routes = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(routes).size).toBe(OPERATIONS.length);
    expect(HANDLERS.map(({ operation }) => operation.id).sort()).toEqual(
      OPERATIONS.map(({ id }) => id).sort(),
    );
    expect(Object.keys(REQUESTS).sort()).toEqual(venueOperations.map(({ id }) => id).sort());
  });

  test.each(venueOperations)(
    "$id: decodes, calls the venue, responds by its schema",
    async (op) => {
      const { url } = attached;
      const { path, init } = requestOf(op);
      const answer = await ask(url + path, init);
      expect(answer.body).not.toHaveProperty("code");
      expect(answer.status).toBe(op.success.status);
      expect(calls).toEqual([REQUESTS[op.id]?.asked]);
      const ajv = new Ajv({ allErrors: true });
      const { schema, type } = op.success;
      const body = type === undefined ? answer.body : answer.text;
      expect(answer.headers.get("content-type")).toContain(type ?? "application/json");
      expect(ajv.validate(schema, body), ajv.errorsText()).toBe(true);
    },
  );

  test.each(venueOperations)("$id: no venue, 503 venue_unavailable", async (op) => {
    const { url } = detached;
    const { path, init } = requestOf(op);
    const { status, body } = await ask(url + path, init);
    expect({ status, code: body.code }).toEqual({ status: 503, code: "venue_unavailable" });
  });

  test.each(venueOperations.filter(({ access }) => access !== "public"))(
    "$id: no token or a malformed one, 401 before anything else",
    async (op) => {
      const { url } = attached;
      const { path } = requestOf(op);
      for (const authorization of ["", "Bearer", "Bearer  ", "Basic abc", "Bearer a b", "abc"]) {
        const headers = authorization === "" ? {} : { authorization };
        const { status, body } = await ask(url + path, { method: op.method, headers });
        expect({ status, code: body.code }).toEqual({ status: 401, code: "token_required" });
      }
      expect(calls).toEqual([]);
    },
  );

  test("placeOrder: the venue sees the exact bytes and the signature header", async () => {
    const { url } = attached;
    const text = ` {"nonce":1, "symbol" : "BTCUSD","side":"long","type":"market","margin":5.0,"leverage":5.0}\n`;
    const header = sampleSignature(text);
    const answer = await ask(`${url}/v1/orders`, jsonPost(text, { "x-service-sig": header }));
    expect(answer.body).toEqual({ ...SAMPLE_ACK, elapsedMs: expect.any(Number) });
    const signature = Uint8Array.from(Buffer.from(header, "hex"));
    expect(calls[0]?.[1]).toMatchObject({ bytes: Buffer.from(text), signature });
  });

  test("an answer that breaks its schema: extra fields do not leave the process", async () => {
    const leaky = { ...SAMPLE_ACK, internalSecret: "x" };
    const sample = await sampleVenue({ placeOrder: () => ({ result: leaky }) });
    const { url } = await runGateway({ edge: sample.edge });
    const answer = await ask(`${url}/v1/orders`, jsonPost(JSON.stringify(ORDER)));
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain("internalSecret");
  });

  test.each([
    ["depth=1", 200, 1],
    ["depth=5000", 200, 5000],
    ["depth=5001", 200, 5000],
    ["depth=99999999999999999999999", 200, 5000],
    ["depth=0", 400, undefined],
    ["depth=-1", 400, undefined],
    ["depth=1.5", 400, undefined],
    ["depth=1e3", 400, undefined],
    ["depth=", 400, undefined],
    ["depth=abc", 400, undefined],
    ["depth=%2B5", 400, undefined],
    ["depth=1&depth=2", 400, undefined],
  ])("getBook?%s: %d", async (query, status, depth) => {
    const { url } = attached;
    const answer = await ask(`${url}/v1/markets/BTCUSD/book?${query}`);
    expect(answer.status).toBe(status);
    if (status === 200) expect(calls).toEqual([asking("getBook", { symbol: "BTCUSD" }, { depth })]);
    else expect(answer.body).toMatchObject({ code: "invalid_request", field: "depth" });
  });

  test.each([
    ["/v1/markets/BTCUSD/book?depth=50&unknown=1", "unknown", "depth"],
    ["/v1/markets/BTCUSD/book?__proto__=2", "__proto__", "depth"],
    ["/v1/markets/BTCUSD/book?depth[]=1", "depth[]", "depth"],
    [
      "/v1/orders?symbl=BTCUSD",
      "symbl",
      "status, nonce, clientOrderId, symbol, limit, before, after, from, to",
    ],
    ["/v1/markets?symbol=BTCUSD", "symbol", "none"],
    ["/v1/time?x", "x", "none"],
  ])("%s: 400 unknown_parameter names it and the known ones", async (path, name, known) => {
    const { status, body } = await ask(attached.url + path, { headers: BEARER });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "unknown_parameter", field: name });
    expect(body.message).toBe(`No query parameter ${name} here; known: ${known}.`);
    expect(calls).toEqual([]);
  });

  test.each([
    "/v1/markets/btcusd/book",
    "/v1/markets/BTC%2FUSD/book",
    "/v1/orders/-1",
    "/v1/orders/01",
    "/v1/orders/1e3",
    "/v1/orders/99999999999999999",
    "/v1/blocks/newest",
    "/v1/orders?nonce=9007199254740992",
    "/v1/orders?status=closed",
    "/v1/markets/BTCUSD/candles?resolution=2m",
  ])("%s: 400 invalid_request names the field", async (path) => {
    const { url } = detached;
    const { status, body } = await ask(url + path, { headers: BEARER });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_request", field: expect.any(String) });
  });

  test("cancel: an empty body is fine, with and without a JSON content type", async () => {
    const { url } = attached;
    const json = { ...BEARER, "content-type": "application/json" };
    for (const headers of [BEARER, json]) {
      const { status } = await ask(`${url}/v1/orders/42/cancel`, { method: "POST", headers });
      expect(status).toBe(200);
    }
    const all = await ask(`${url}/v1/orders/cancel-all`, { method: "POST", headers: BEARER });
    expect(all.status).toBe(200);
  });
});
