/** Requests that an edge sends again, to the core that leads then: each acts once, with the first answer. */

import type {
  AnswerBodies,
  EdgeLink,
  RequestBodies,
  RequestName,
  RequestTerms,
} from "@perpgate/link";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

let links: EdgeLink[];
let trader: Trader;

const at = await runVenue(
  {
    limits: {
      cancelsPerSecond: 0.001,
      cancelsBurst: 20,
      ordersPerSecond: 0.001,
      ordersBurst: 10,
    },
  },
  afterAll,
);

beforeEach(async () => {
  await at.setIndex("BTCUSD", 65_000);
  links = [await at.connect(), await at.connect()];
  for (const link of links) await link.ready;
  trader = await Trader.enter(at);
});

type Asked<N extends RequestName> = {
  readonly answer: Promise<AnswerBodies[N]>;
  readonly terms: RequestTerms | undefined;
};

/** Of the first edge, or as the second sends it again. */
function asks<N extends RequestName>(
  name: N,
  body: RequestBodies[N],
  before?: { readonly terms: RequestTerms | undefined },
): Asked<N> {
  let terms: RequestTerms | undefined;
  const answer = new Promise<AnswerBodies[N]>((answered, refused) => {
    terms = links[before === undefined ? 0 : 1]?.ask(name, body, { answered, refused }, before);
  });
  return { answer, terms };
}

async function twice<N extends RequestName>(
  name: N,
  body: RequestBodies[N],
  between: () => Promise<unknown> = async () => undefined,
) {
  const first = asks(name, body);
  const answer = await first.answer;
  await between();
  return [answer, await asks(name, body, first).answer];
}

/** Asks it, and returns what sends it again. */
async function firstOf<N extends RequestName>(name: N, body: RequestBodies[N]) {
  const first = asks(name, body);
  await first.answer;
  return [() => asks(name, body, first).answer];
}

const order = (clientOrderId?: string) =>
  trader.place({ ...trader.limit("long", 64_000), ...(clientOrderId && { clientOrderId }) });
const openOrders = () => trader.list("/v1/orders?status=open");

describe("an unsigned request that is sent again", () => {
  test("cancel-all with a newer order in between: the newer one stays", async () => {
    await order();
    await order();
    const { session } = trader;
    const [first, again] = await twice("cancelAllOrders", { session, symbol: undefined }, order);
    expect(first?.result.canceled).toHaveLength(2);
    expect(again).toEqual(first);
    expect(await openOrders()).toHaveLength(1);
  });

  test("a switch that was disarmed in between stays disarmed", async () => {
    const { session } = trader;
    const disarm = () => asks("cancelOrdersAfter", { session, afterMs: 0 }).answer;
    const [first, again] = await twice("cancelOrdersAfter", { session, afterMs: 2_000 }, disarm);
    expect(again).toEqual(first);
    await order();
    await at.advance(3_000);
    expect(await openOrders()).toHaveLength(1);
  });

  test("cancels of an order, by either name: the first answer, also if it was refused", async () => {
    const placed = await order("twice");
    const { session } = trader;
    const byName = { session, body: { clientOrderId: "twice" } };
    const next = () => order("twice");
    const [first, again] = await twice("cancelOrder", byName, next);
    expect(first?.result.orderId).toBe(placed.body.orderId);
    expect(again).toEqual(first);
    expect(await openOrders()).toHaveLength(1);
  });

  test.each(["orderId", "clientOrderId"] as const)(
    "a cancel by %s that ended the order",
    async (name) => {
      const orderId = String((await order("once")).body.orderId);
      const named = name === "orderId" ? { orderId } : { clientOrderId: "once" };
      const [first, again] = await twice("cancelOrder", { session: trader.session, body: named });
      expect(first?.result).toMatchObject({ orderId, status: "canceled" });
      expect(again).toEqual(first);
    },
  );

  test("a cancel by the client's name that found the order ended, though another has the name now", async () => {
    const placed = await order("late");
    const { session } = trader;
    const body = { session, body: { clientOrderId: "late" } };
    const winner = asks("cancelOrder", body);
    const first = asks("cancelOrder", body);
    const refusal = { code: "order_not_cancelable", details: { orderId: placed.body.orderId } };
    await expect(first.answer).rejects.toMatchObject(refusal);
    await winner.answer;
    await expect(asks("cancelOrder", body, first).answer).rejects.toMatchObject(refusal);
    await order("late");
    await expect(asks("cancelOrder", body, first).answer).rejects.toMatchObject(refusal);
    expect(await openOrders()).toHaveLength(1);
  });

  test("the ends of all other sessions: none that began since, whatever has become of the key", async () => {
    const other = await trader.again();
    const key = at.venue.views.session(trader.session)?.key ?? "";
    const body = { session: trader.session, proof: { key, signature: Buffer.alloc(64) } };
    let newer: Trader | undefined;
    const [first, again] = await twice("endOtherSessions", body, async () => {
      newer = await trader.again();
      expect((await trader.rotate(newSessionKey().publicHex)).status).toBe(200);
    });
    expect(first?.result.ended).toEqual([String(other.session)]);
    expect(again).toEqual(first);
    expect(at.venue.views.session(newer?.session ?? 0)).toBeDefined();
  });

  test("a sign-in whose session has ended since: the session that it opened", async () => {
    const { account = 0, key = "" } = at.venue.views.session(trader.session) ?? {};
    const body = {
      address: trader.wallet.address.slice(2).toLowerCase(),
      publicKey: newSessionKey().raw,
      tokenHash: key.replace(/./g, "7"),
      nonce: `again${trader.session}`,
      expiresAt: at.nowMs() + 3_600_000,
      nonceForgottenAt: at.nowMs() + 3_600_000,
      maxOrderNotionalMicros: 0,
      maxNotionalMicros: 0,
      markets: [],
      message: Buffer.from("text"),
      signature: Buffer.alloc(65),
      contractChainId: undefined,
    };
    const first = asks("signIn", body);
    const { session } = await first.answer;
    await asks("endSession", { session }).answer;
    expect(await asks("signIn", body, first).answer).toEqual({ session, account });
  });

  test("whose session has ended since: its outcome is unknown, not refused", async () => {
    const { session } = trader;
    const { raw } = newSessionKey();
    const key = at.venue.views.session(session)?.key ?? "";
    const rotation = { session, key, newPublicKey: raw, bytes: raw, signature: undefined };
    const deposit = { session, chain: "ethereum", txHash: "ab".repeat(32), token: "USDC" } as const;
    const asked = [
      ...(await firstOf("cancelAllOrders", { session, symbol: undefined })),
      ...(await firstOf("cancelOrdersAfter", { session, afterMs: 2_000 })),
      ...(await firstOf("setSessionOptions", { session, cancelOnDisconnect: true })),
      ...(await firstOf("registerDeposit", deposit)),
      ...(await firstOf("rotateSession", rotation)),
    ];
    await asks("endSession", { session }).answer;
    for (const again of asked)
      await expect(again()).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(
      asks("cancelAllOrders", { session, symbol: undefined }).answer,
    ).rejects.toMatchObject({
      code: "invalid_token",
    });
  });

  test("both copies in flight together: one is executed, both have its answer", async () => {
    await order();
    const { session } = trader;
    const body = { session, symbol: undefined };
    const first = asks("cancelAllOrders", body);
    const copy = asks("cancelAllOrders", body, first);
    const answers = await Promise.all([first.answer, copy.answer]);
    expect(answers[0].result.canceled).toHaveLength(1);
    expect(answers[1]).toEqual(answers[0]);
  });

  test("the ends of sessions: those that the first has ended", async () => {
    const others = [await trader.again(), await trader.again()];
    const { session } = trader;
    const [first, again] = await twice("endSessionById", {
      session,
      id: String(others[0]?.session),
      proof: undefined,
    });
    expect(again).toEqual(first);
    const [out, outAgain] = await twice("endSession", { session: others[1]?.session ?? 0 });
    expect(outAgain).toEqual(out);
    const option = { session, cancelOnDisconnect: true };
    expect(await twice("setSessionOptions", option)).toEqual([{}, {}]);
  });

  test("it is charged once", async () => {
    const { session } = trader;
    const first = asks("cancelAllOrders", { session, symbol: undefined });
    await first.answer;
    for (let copies = 0; copies < 70; copies++) {
      await asks("cancelAllOrders", { session, symbol: undefined }, first).answer;
    }
    expect((await asks("cancelAllOrders", { session, symbol: undefined }).answer).result).toEqual({
      canceled: [],
    });
  });

  test("past its last moment it is not executed, and that is the answer", async () => {
    const { session } = trader;
    const asked = asks("cancelAllOrders", { session, symbol: undefined });
    await asked.answer;
    const terms = { id: "f".repeat(32), notAfterMs: at.nowMs() - 1_000 };
    await order();
    const late = asks("cancelAllOrders", { session, symbol: undefined }, { terms });
    await expect(late.answer).rejects.toMatchObject({ code: "not_executed" });
    expect(await openOrders()).toHaveLength(1);
  });

  test("an edge knows the venue's time from the core, whatever its own clock says", async () => {
    await at.advance(50_000);
    const { terms } = asks("cancelAllOrders", { session: trader.session, symbol: undefined });
    const aheadMs = (terms?.notAfterMs ?? 0) - at.venue.views.timeMs;
    expect(aheadMs).toBeGreaterThan(8_000);
    expect(aheadMs).toBeLessThan(21_000);
  });
});

test("a signed request that is sent again: its first answer, whatever has become of key and limits", async () => {
  const { session } = trader;
  const text = JSON.stringify(trader.limit("long", 64_000));
  const body = JSON.parse(text);
  const key = at.venue.views.session(session)?.key ?? "";
  const request = { session, key, body, bytes: Buffer.from(text), signature: Buffer.alloc(64) };
  const { result } = await asks("placeOrder", request).answer;
  expect((await trader.rotate(newSessionKey().publicHex)).status).toBe(200);
  await expect(asks("placeOrder", request).answer).rejects.toMatchObject({
    code: "session_key_rotated",
  });
  const unsent = { ...request, bytes: Buffer.from(text.replace("64000", "63000")) };
  for (let copies = 0; copies < 20; copies++) {
    expect((await asks("placeOrder", request, { terms: undefined }).answer).result).toEqual(result);
  }
  await expect(asks("placeOrder", unsent, { terms: undefined }).answer).rejects.toMatchObject({
    code: "session_key_rotated",
  });
  expect(await openOrders()).toHaveLength(1);
  await trader.signOut();
  await expect(asks("placeOrder", request, { terms: undefined }).answer).rejects.toMatchObject({
    code: "outcome_unknown",
  });
});
