/** No read is free: public ones count by address, those with a token by account. */

import { OPERATIONS } from "@perpgate/protocol/operations";
import { newLogKey } from "@perpgate/venue";
import { expect, onTestFinished, test, vi } from "vitest";
import { CostBudgets } from "../limits/cost-budget.js";
import { COST } from "../limits/costs.js";
import { DEFAULT_LIMITS } from "../limits/limit-settings.js";
import { AddressLimits } from "../limits/limits.js";
import { type Answer, ask, runGateway } from "../testing/running-gateway.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

/** Unknown ids count too. */
const NOT_THERE: Readonly<Record<string, string>> = { "{id}": "999", "{ackNonce}": "999" };
const BEARER_READS = OPERATIONS.filter(
  ({ method, access }) => method === "GET" && access !== "public",
).map(({ path }) => path.replaceAll(/\{\w+\}/g, (name) => NOT_THERE[name] ?? name));

function expectLimited({ status, headers, body }: Answer, limit: string, path: string): void {
  expect(status, path).toBe(429);
  expect(body, path).toMatchObject({ code: "rate_limited", details: { limit } });
  expect(Number(headers.get("retry-after")), path).toBeGreaterThan(0);
  expect(headers.get("ratelimit"), path).toMatch(new RegExp(`^"${limit}";r=0;t=`));
}

test("every read with a token: counted by account, whatever the session", async () => {
  expect(BEARER_READS).toHaveLength(15);
  const at = await runVenue({
    limits: { accountReadsBurst: BEARER_READS.length, accountReadsPerSecond: 0.001 },
  });
  const trader = await Trader.enter(at);
  const policy = `"account-reads";q=${BEARER_READS.length};w=${BEARER_READS.length * 1_000}`;
  for (const path of BEARER_READS) {
    const answer = await trader.get(path);
    expect(answer.status, path).toBeOneOf([200, 404]);
    expect(answer.headers.get("ratelimit-policy"), path).toBe(policy);
  }
  await trader.signIn();
  for (const path of BEARER_READS) {
    expectLimited(await trader.get(path), "account-reads", path);
  }
  // Other accounts may read, and this one may still trade and cancel.
  const other = await Trader.enter(at);
  expect((await other.get("/v1/account")).status).toBe(200);
  const { status, body } = await trader.place(trader.limit("long", 60_000));
  expect(status).toBe(200);
  expect((await trader.cancel(body.orderId)).status).toBe(200);
});

test("every public read under /v1, and the page of the interface: counted by address", async () => {
  const publicReads = OPERATIONS.filter(
    ({ method, access, path }) => method === "GET" && access === "public" && path.startsWith("/v1"),
  ).map(({ path }) => path.replace("{symbol}", "BTCUSD").replace("{number}", "1"));
  expect(publicReads).toContain("/v1/openapi.json");
  const paths = [...publicReads, "/docs", "/docs/static/swagger-ui-bundle.js"];
  const readsBurst = paths.length;
  const limits = { ...DEFAULT_LIMITS, readsBurst, readsPerSecond: 0.001 };
  const { url } = await runGateway({ addressLimits: new AddressLimits(limits) });
  for (const [index, path] of paths.entries()) {
    const { status, headers } = await ask(url + path);
    expect(status, path).not.toBe(429);
    expect(headers.get("ratelimit"), path).toContain(`"reads";r=${readsBurst - 1 - index};`);
    expect(headers.get("ratelimit-policy"), path).toContain(`"reads";q=${readsBurst};`);
  }
  for (const path of paths) expectLimited(await ask(url + path), "reads", path);
});

/** A venue whose last sealed block has the acknowledgements of all these orders. */
async function withSealedBlock() {
  const { key: logKey } = newLogKey("venue.example/log");
  const at = await runVenue({ promises: { logKey, checkpointMs: 60_000 } });
  const trader = await Trader.enter(at);
  await at.advance(200);
  const orders = 30;
  const nonces: string[] = [];
  for (let i = 0; i < orders; i++) {
    const { body } = await trader.place(trader.limit("long", 60_000 + i, { margin: 1 }));
    nonces.push(String(body.ackNonce));
  }
  await at.advance(200);
  return { at, trader, orders, nonces };
}

test("proofs and lists of acknowledgements: charged by the acknowledgements of the block", async () => {
  const { at, trader, orders, nonces } = await withSealedBlock();
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  onTestFinished(() => charge.mockRestore());
  const { status, body } = await trader.get(`/v1/preconfirms/${nonces[7]}`);
  expect(status).toBe(200);
  expect(charge.mock.calls.map(([, each]) => each)).toContain(orders * COST.historyRow);
  charge.mockClear();
  expect((await ask(`${at.url}/tlog/acks/${String(body.block)}`)).status).toBe(200);
  expect(charge.mock.calls.map(([, each]) => each)).toContain(orders * COST.historyRow);
});

test("proofs of one block: only the first reads the block and is charged for its rows", async () => {
  const { at, trader, orders, nonces } = await withSealedBlock();
  await at.venue.promises?.log.advance();
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  onTestFinished(() => charge.mockRestore());
  const texts = new Set<string>();
  for (const nonce of nonces) {
    const { status, text } = await trader.get(`/v1/preconfirms/${nonce}/proof`);
    expect(status).toBe(200);
    texts.add(text);
    expect((await trader.get(`/v1/preconfirms/${nonce}`)).status).toBe(200);
  }
  expect(texts.size).toBe(orders);
  // With a hash of the tile.
  const rows = charge.mock.calls.flatMap(([, micros]) =>
    micros > 0 && micros % COST.historyRow === 0 ? [micros / COST.historyRow] : [],
  );
  expect(rows.filter((each) => each >= orders)).toEqual([orders + 1]);
});

test("GET /v1/orders: charged by the rows that it reads, also where a limit leaves one of them", async () => {
  const at = await runVenue();
  const trader = await Trader.enter(at);
  const orders = 30;
  for (let i = 0; i < orders; i++) {
    await trader.place(trader.limit("long", 60_000 + i, { margin: 1 }));
  }
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  const chargeAccount = vi.spyOn(CostBudgets.prototype, "chargeAccount");
  onTestFinished(() => {
    charge.mockRestore();
    chargeAccount.mockRestore();
  });
  expect((await trader.get("/v1/orders?limit=1")).body).toHaveLength(1);
  const micros = orders * COST.historyRow;
  expect(charge.mock.calls.map(([, each]) => each)).toContain(micros);
  expect(chargeAccount.mock.calls.map(([, each]) => each)).toContain(micros);
});

test("GET /v1/orders by client id: a limit bounds the rows that it reads", async () => {
  const trader = await Trader.enter(await runVenue());
  const named = { timeInForce: "ioc", clientOrderId: "bid" } as const;
  for (let i = 0; i < 30; i++) await trader.place({ ...trader.limit("long", 60_000), ...named });
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  onTestFinished(() => charge.mockRestore());
  const { body } = await trader.get("/v1/orders?status=all&clientOrderId=bid&limit=2");
  expect(body).toHaveLength(2);
  const charged = charge.mock.calls.map(([, each]) => each);
  expect(charged).toContain(2 * COST.historyRow);
  expect(charged).not.toContain(30 * COST.historyRow);
});

test("GET /v1/ledger and fills: charged for all rows that they read, returned or not", async () => {
  const at = await runVenue();
  const [ann, bob] = [await Trader.enter(at), await Trader.enter(at)];
  await bob.place(bob.limit("short", 65_000, { margin: 1_000 }));
  for (let nonce = 1; nonce <= 6; nonce++) {
    await ann.place(ann.order({ margin: 10, leverage: 5, nonce }));
    const change = { symbol: "BTCUSD", amount: 1, nonce: 100 + nonce };
    expect((await ann.signed("/v1/positions/BTCUSD/margin", change)).status).toBe(200);
  }
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  const chargeAccount = vi.spyOn(CostBudgets.prototype, "chargeAccount");
  onTestFinished(() => {
    charge.mockRestore();
    chargeAccount.mockRestore();
  });
  const { body } = await ann.get("/v1/ledger?limit=5");
  expect(body).toHaveLength(5);
  // One fill more than the limit, and as many changes of margin: any of them may be the newest.
  const micros = (6 + 5) * COST.historyRow;
  expect(charge.mock.calls.map(([, each]) => each)).toContain(micros);
  expect(chargeAccount.mock.calls.map(([, each]) => each)).toContain(micros);
  charge.mockClear();
  expect((await ann.get("/v1/fills?limit=4")).body).toHaveLength(4);
  expect(charge.mock.calls.map(([, each]) => each)).toContain(4 * COST.historyRow);
});

test("public lists of the past: charged by the rows that they read", async () => {
  const at = await runVenue();
  const [ann, bob] = [await Trader.enter(at), await Trader.enter(at)];
  await bob.place(bob.limit("short", 65_000, { margin: 1_000 }));
  for (let nonce = 1; nonce <= 7; nonce++) {
    await ann.place(ann.order({ margin: 10, leverage: 5, nonce }));
  }
  const market = `${at.url}/v1/markets/BTCUSD`;
  const charge = vi.spyOn(CostBudgets.prototype, "charge");
  onTestFinished(() => charge.mockRestore());
  for (const [path, rows] of [
    ["trades?limit=7", 7],
    ["candles?resolution=1m", 1],
  ] as const) {
    charge.mockClear();
    expect((await ask(`${market}/${path}`)).body, path).toHaveLength(rows);
    expect(
      charge.mock.calls.map(([, each]) => each),
      path,
    ).toContain(rows * COST.historyRow);
  }
});

test("a refusal for maxNotional reads no open orders, and names what the engine judged", async () => {
  const at = await runVenue();
  const [trader, maker] = [new Trader(at), await Trader.enter(at)];
  await trader.signIn({ resources: [trader.resource("&maxNotional=1500")] });
  await maker.place(maker.limit("short", 65_000));
  const long = { symbol: "BTCUSD", side: "long", leverage: 5 };
  const short = { ...long, side: "short" };
  const bid = { ...long, type: "limit", price: 60_000, size: 0.01 };
  const placed = [
    // A position of $325, and its exits, which add nothing.
    { ...long, type: "market", size: 0.005 },
    { ...short, type: "limit", price: 66_000, size: 0.002 },
    { ...short, type: "stop", price: 60_000, size: 0.005, reduceOnly: true },
    { ...long, type: "stop", price: 70_000, size: 0.001 },
    bid,
  ];
  for (const [index, order] of placed.entries()) {
    expect((await trader.place({ ...order, nonce: index + 1 })).status).toBe(200);
  }
  const read = vi.spyOn(at.venue.history, "order");
  const notional = 325 + 70 + 600 + 600;
  const cap = { code: "session_notional_cap_exceeded", details: { notional, cap: 1_500 } };
  expect((await trader.place({ ...bid, nonce: 10 })).body).toMatchObject(cap);
  const operations = [bid, bid].map((order) => ({ op: "place", ...order }));
  const { body } = await trader.signed("/v1/orders/batch", { nonce: 11, operations });
  expect(body.results).toMatchObject([{ error: cap }, { error: cap }]);
  expect(read).not.toHaveBeenCalled();
});
