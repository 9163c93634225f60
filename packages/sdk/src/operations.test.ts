/** Every operation of the interface once, against a real gateway. */

import { checkOrderProof, checkReserves, type FetchLike, PerpgateClient } from "@perpgate/sdk";
import { newLogKey } from "@perpgate/venue";
import { expect, test } from "vitest";
import { ASK, BID, BUY, newClient, newSession, startVenue } from "./testing/venue.js";

/** `fetch` that records the operations called. */
function recordingFetch(called: Set<string>): FetchLike {
  return (url, init) => {
    const path = new URL(url).pathname
      .replace(/^\/v1\/markets\/[A-Z]+\//, "/v1/markets/{symbol}/")
      .replace(/^\/v1\/orders\/(\d+|bid-1)/, "/v1/orders/{id}")
      .replace(/^\/v1\/positions\/[A-Z]+\//, "/v1/positions/{symbol}/")
      .replace(/^\/v1\/auth\/sessions\/\d+$/, "/v1/auth/sessions/{id}")
      .replace(/^\/v1\/blocks\/\d+$/, "/v1/blocks/{number}")
      .replace(/^\/v1\/bridge\/deposits\/\d+$/, "/v1/bridge/deposits/{id}")
      .replace(/^\/v1\/bridge\/withdrawals\/\d+$/, "/v1/bridge/withdrawals/{id}")
      .replace(/^\/v1\/preconfirms\/\d+(?=$|\/proof$)/, "/v1/preconfirms/{ackNonce}");
    called.add(`${init.method.toLowerCase()} ${path}`);
    return fetch(url, init);
  };
}

/** Attestors call these, with another client. */
const FOR_ATTESTORS = ["post /v1/bridge/queue", "post /v1/bridge/votes"];

test("every operation of the OpenAPI document: has a method that decodes its response", async () => {
  const at = await startVenue({ promises: { logKey: newLogKey().key, checkpointMs: 60_000 } });
  const called = new Set<string>();
  const client = newClient(at, { fetch: recordingFetch(called) });
  const [maker, taker] = [await newSession(client), await newSession(client)];

  expect(await client.health()).toMatchObject({ status: "ok" });
  expect(await client.readiness()).toEqual({ status: "ready" });
  expect(await client.markets()).toMatchObject([
    { symbol: "BTCUSD", tickSize: 0.1, markPrice: 65_000 },
    { symbol: "ETHUSD" },
    { symbol: "SOLUSD" },
  ]);
  expect(await maker.account()).toMatchObject({ address: maker.address, balance: 10_000 });

  const rested = await maker.placeOrder({ ...ASK, price: 65_010, margin: 1_000 });
  expect(rested).toMatchObject({ status: "resting", filledSize: 0, replayed: false });
  const filled = await taker.placeOrder(BUY);
  expect(filled).toMatchObject({ status: "filled", avgFillPrice: 65_010, replayed: false });
  expect(await client.book("BTCUSD", { depth: 1 })).toMatchObject({
    bids: [],
    asks: [[65_010, rested.remainingSize - filled.filledSize]],
  });
  expect(await client.ticker("BTCUSD")).toMatchObject({ ask: 65_010, last: 65_010 });
  expect(await client.tickers()).toMatchObject([
    { symbol: "BTCUSD", last: 65_010 },
    { symbol: "ETHUSD" },
    { symbol: "SOLUSD" },
  ]);
  const { time, markets, stage } = await client.status();
  expect([stage, markets[0]]).toEqual(["open", { symbol: "BTCUSD", status: "active" }]);
  expect(await client.time()).toBeGreaterThanOrEqual(time);
  expect(await client.trades("BTCUSD", { limit: 1 })).toMatchObject([
    { price: 65_010, size: filled.filledSize, side: "long" },
  ]);
  expect(await client.candles("BTCUSD", { resolution: "5m", limit: 2 })).toMatchObject([
    { close: 65_010, trades: 1 },
  ]);
  expect(await client.candles("BTCUSD", { before: 1 })).toEqual([]);
  expect(await client.candles("BTCUSD", { resolution: "1d", price: "index" })).toMatchObject([
    { close: 65_000, volume: 0, trades: 0 },
  ]);
  expect(await client.funding("BTCUSD", { limit: 3 })).toEqual([]);
  expect(await taker.positions()).toMatchObject([{ symbol: "BTCUSD", size: filled.filledSize }]);
  const fills = await taker.fills({ limit: 5 });
  expect(fills).toMatchObject([{ orderId: filled.orderId, liquidity: "taker" }]);
  expect(await taker.fills({ before: fills[0]!.id })).toEqual([]);

  const ledger = await taker.ledger();
  expect(ledger).toMatchObject([{ kind: "fee", reference: fills[0]!.id }, { kind: "grant" }]);
  const sum = ledger.reduce((micros, { amount }) => micros + Math.round(amount * 1e6), 0);
  expect(sum).toBe(Math.round((await taker.account()).balance * 1e6));
  expect(await taker.ledger({ before: ledger[0]!.id })).toMatchObject([{ kind: "grant" }]);
  expect(await taker.fundingPayments({ symbol: "BTCUSD" })).toEqual([]);

  expect(await maker.openOrders()).toMatchObject([{ orderId: rested.orderId }]);
  expect(await taker.orders()).toEqual([]);
  expect(await taker.orders({ status: "all", nonce: filled.nonce })).toMatchObject([
    { orderId: filled.orderId, status: "filled" },
  ]);
  expect(await taker.order(filled.orderId)).toMatchObject({ nonce: filled.nonce });
  expect(await maker.cancelOrder(rested.orderId)).toMatchObject({ status: "canceled" });
  const bid = await maker.placeOrder(BID);
  expect(await maker.cancelAll({ symbol: "ETHUSD" })).toEqual({ canceled: [] });
  expect(await maker.cancelAll()).toEqual({ canceled: [bid.orderId] });
  const { cancelAt } = await maker.cancelAfter(5_000);
  expect(cancelAt).toBe(at.nowMs() + 5_000);
  expect(await maker.cancelAfter(0)).toEqual({ cancelAt: null });

  const sized = { ...BID, margin: undefined, size: 0.01, clientOrderId: "bid-1" } as const;
  const named = await maker.placeOrder(sized);
  expect(named).toMatchObject({ status: "resting", clientOrderId: "bid-1", remainingSize: 0.01 });
  const amended = await maker.amendOrder({ clientOrderId: "bid-1", size: 0.02 });
  expect(amended).toMatchObject({ orderId: named.orderId, remainingSize: 0.02, replayed: false });
  expect(await maker.cancelOrder({ clientOrderId: "bid-1" })).toMatchObject({ status: "canceled" });
  const { results } = await maker.batch([
    { op: "place", ...sized },
    { op: "cancel", clientOrderId: "bid-1" },
  ]);
  expect(results.map(({ status }) => status)).toEqual([200, 200]);
  await maker.stream.placeOrder(sized);
  const late = maker.stream.cancelOrder({ clientOrderId: "bid-1" }, { validUntil: 1 });
  await expect(late).rejects.toMatchObject({ code: "too_late" });
  expect(await maker.stream.cancelOrder({ clientOrderId: "bid-1" })).toMatchObject({
    status: "canceled",
  });
  const last = await maker.stream.placeOrder(BID);
  expect(await maker.stream.cancelAll({ symbol: "ETHUSD" })).toEqual({ canceled: [] });
  expect(await maker.stream.cancelAll()).toEqual({ canceled: [last.orderId] });
  expect(await taker.changeMargin("BTCUSD", 5)).toMatchObject({ symbol: "BTCUSD", amount: 5 });
  const exits = { symbol: "BTCUSD", side: "long", takeProfit: 70_000, stopLoss: 60_000 } as const;
  expect((await taker.protect(exits)).results).toMatchObject([{ status: 200 }, { status: 200 }]);
  const moved = await taker.protect({ ...exits, takeProfit: null, stopLoss: 61_000 });
  expect(moved.results).toMatchObject([{ canceled: {} }, { ack: { status: "pending" } }]);
  const wrong = await taker.protect({ ...exits, takeProfit: undefined, stopLoss: 66_000 });
  expect(wrong.results).toMatchObject([{ error: { code: "stop_would_trigger" } }]);
  expect(await taker.openOrders()).toMatchObject([{ closePosition: true, price: 61_000 }]);
  // Nothing to change, so only its read is sent.
  const unset = { ...exits, takeProfit: null, stopLoss: undefined };
  expect(await taker.protect(unset)).toEqual({ results: [], replayed: false });
  const signal = AbortSignal.abort(new Error("changed my mind"));
  await expect(taker.protect(unset, { signal })).rejects.toThrow("changed my mind");

  expect(await client.bridge()).toMatchObject({ attestor: "dev" });
  const deposit = { chain: "arbitrum", txHash: `0x${"ab".repeat(32)}`, token: "USDC" } as const;
  const registered = await maker.deposit(deposit);
  expect(registered).toMatchObject({ status: "queued", chain: "arbitrum" });
  expect((await maker.deposit(deposit)).depositId).toBe(registered.depositId);
  await at.advance(1_000);
  expect(await maker.deposits()).toMatchObject([{ status: "credited" }]);
  expect(await maker.depositById(registered.depositId)).toMatchObject({ status: "credited" });
  const withdrawal = { chain: "ethereum", token: "USDC", amount: 10 } as const;
  await expect(maker.withdraw(withdrawal)).rejects.toMatchObject({
    code: "withdrawals_not_supported",
  });
  expect(await maker.withdrawals()).toEqual([]);
  expect(await client.openWithdrawals({ chain: "ethereum" })).toMatchObject({ withdrawals: [] });
  const reserves = await client.reserves();
  expect(reserves).toMatchObject({ liabilities: null, vaults: [], pendingWithdrawals: 0 });
  expect(await checkReserves(reserves)).toBe("the venue has committed to nothing yet");
  await expect(maker.liability()).rejects.toMatchObject({ code: "liability_not_found" });
  await expect(maker.withdrawalById("1")).rejects.toMatchObject({ code: "withdrawal_not_found" });

  const proof = await taker.preconfirm(filled.ackNonce);
  expect(proof.ack).toMatchObject({ orderId: filled.orderId, avgFillPrice: 65_010 });
  expect(proof.block).toBe(filled.expectedBlock);
  expect(await client.block(proof.block)).toMatchObject({ number: proof.block });
  expect((await client.latestBlock()).number).toBeGreaterThanOrEqual(proof.block);

  await at.venue.promises?.log.advance();
  const { logKey, notKept } = await client.honesty();
  const text = await taker.preconfirmProof(filled.ackNonce);
  expect(await checkOrderProof(text, logKey)).toMatchObject({ block: { number: proof.block } });
  await taker.receipts.settled();
  expect(taker.receipts.of(filled.ackNonce)).toMatchObject({ logKey, block: proof.block });
  expect([notKept, taker.receipts.files.length]).toEqual([0, 5]);

  const oldKey = maker.sessionKey;
  const { sessionKey } = await maker.rotate();
  expect([sessionKey, sessionKey === oldKey]).toEqual([maker.sessionKey, false]);
  expect((await maker.account()).session.sessionKey).toBe(sessionKey);
  expect(await maker.placeOrder(BID)).toMatchObject({ status: "resting" });
  const [{ id } = { id: "" }] = await maker.sessions();
  expect(await maker.sessions()).toMatchObject([{ id, sessionKey, current: true }]);
  expect(await maker.endOtherSessions()).toEqual([]);
  await expect(maker.endSession("1")).rejects.toMatchObject({ code: "session_not_found" });
  const [own] = await taker.sessions();
  await taker.endSession(own?.id ?? "");
  await expect(taker.account()).rejects.toMatchObject({ code: "invalid_token" });
  await maker.signOut();
  await expect(maker.account()).rejects.toMatchObject({ code: "invalid_token", status: 401 });

  expect(await client.asyncapi()).toMatchObject({ asyncapi: "3.0.0" });
  const { paths } = await client.openapi();
  const offered = Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.keys(Object(methods)).map((method) => `${method} ${path}`),
  );
  expect(offered.length).toBeGreaterThan(25);
  expect(offered.filter((name) => !called.has(name) && !FOR_ATTESTORS.includes(name))).toEqual([]);
});

test("options: invalid ones are refused, an infinite time-out is accepted", async () => {
  const url = "http://127.0.0.1:8080";
  for (const wrong of [{ timeoutMs: Number.NaN }, { retries: -1 }, { budgetMs: -5 }]) {
    expect(() => new PerpgateClient({ url, ...wrong })).toThrow(RangeError);
  }
  const at = await startVenue();
  const client = newClient(at, { timeoutMs: Number.POSITIVE_INFINITY, budgetMs: 2 ** 40 });
  expect(await client.markets()).toHaveLength(3);
  const session = await newSession(client);
  expect(await session.stream.placeOrder(BID)).toMatchObject({ status: "resting" });
});

test("url: a base path is kept, a trailing slash is not", () => {
  const urlOf = (url: string) => new PerpgateClient({ url }).url;
  expect(urlOf("http://127.0.0.1:8080/")).toBe("http://127.0.0.1:8080");
  expect(urlOf("https://edge.example/perpgate/")).toBe("https://edge.example/perpgate");
  expect(() => urlOf("ws://127.0.0.1")).toThrow(/http/);
  expect(() => urlOf("127.0.0.1:8080")).toThrow(TypeError);
});
