/** Requests that an edge sends again, to the core that leads then: each acts once, with the first answer. */

import type {
  AnswerBodies,
  EdgeLink,
  RequestBodies,
  RequestName,
  RequestTerms,
} from "@perpgate/link";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningVenue, runVenue } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

let at: RunningVenue;
let links: EdgeLink[];
let trader: Trader;

beforeAll(async () => {
  at = await runVenue(
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
});

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
