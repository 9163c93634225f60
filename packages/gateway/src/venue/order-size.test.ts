/** What an order shows of its size: what it filled and what is left of it, in every state. */

import { afterAll, beforeEach, expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const at = await runVenue({}, afterAll);
let maker: Trader;
let taker: Trader;
beforeEach(async () => {
  maker = await Trader.enter(at);
  taker = await Trader.enter(at);
});

/** Places it, and reads it as the list, the single read and its name show it. */
async function placed(trader: Trader, body: object): Promise<Record<string, unknown>> {
  const { body: ack, text } = await trader.place(body);
  expect(ack.orderId, text).toBeDefined();
  return order(trader, ack.orderId);
}

async function order(trader: Trader, id: unknown): Promise<Record<string, unknown>> {
  const { body } = await trader.get(`/v1/orders/${id}`);
  const listed = await trader.list("/v1/orders?status=all");
  expect(listed.find(({ orderId }) => orderId === id)).toEqual(body);
  const { size, filledSize, remainingSize } = body;
  expect(Number(filledSize) + Number(remainingSize)).toBeCloseTo(Number(size), 9);
  return body;
}

function control(action: "reduceOnly" | "resume"): Promise<void> {
  const stampMs = at.nowMs();
  const expiresAtMs = stampMs + 60_000;
  return at.execute({
    kind: "ControlMarket",
    stampMs,
    expiresAtMs,
    market: 0,
    action,
    priceTicks: 0,
  });
}

async function clear(): Promise<void> {
  await maker.send("/v1/orders/cancel-all", {});
}

test("market order by money that pays more than the best price: filled, its size is what it filled", async () => {
  await maker.place(maker.order({ side: "short", type: "limit", price: 65_010, margin: 100 }));
  await maker.place(maker.order({ side: "short", type: "limit", price: 67_000, margin: 1_000 }));
  const bought = await placed(taker, taker.order({ margin: 400 }));
  expect(bought).toMatchObject({ status: "filled", remainingSize: 0, filledSize: 0.03007 });
  expect(bought.size).toBe(bought.filledSize);
  await clear();
});

test("market order by money that sells below the best price: its size is what it filled", async () => {
  await maker.place(maker.order({ side: "long", type: "limit", price: 64_990, margin: 100 }));
  await maker.place(maker.order({ side: "long", type: "limit", price: 63_000, margin: 1_000 }));
  const sold = await placed(taker, taker.order({ side: "short", margin: 400 }));
  expect(sold).toMatchObject({ status: "filled", remainingSize: 0 });
  expect(sold.size).toBe(sold.filledSize);
  await clear();
});

test("market order by money that the book cannot fill: what is left is in its size", async () => {
  await maker.place(maker.order({ side: "short", type: "limit", price: 65_010, margin: 100 }));
  const part = await placed(taker, taker.order({ margin: 400 }));
  expect(part).toMatchObject({ status: "canceled", reason: "book_empty", filledSize: 0.00769 });
  const none = await placed(taker, taker.order({ margin: 400 }));
  expect(none).toMatchObject({ status: "canceled", filledSize: 0, size: 0.03076 });
});

test("reduce-only market order by money: closes less than the position, its size is what it filled", async () => {
  await maker.place(maker.order({ side: "short", type: "limit", price: 65_010, margin: 1_000 }));
  await placed(taker, taker.order({ margin: 800 }));
  await maker.place(maker.order({ side: "long", type: "limit", price: 64_990, margin: 50 }));
  await maker.place(maker.order({ side: "long", type: "limit", price: 62_000, margin: 1_000 }));
  const reducing = taker.order({ side: "short", margin: 400, reduceOnly: true });
  const reduced = await placed(taker, reducing);
  expect(reduced).toMatchObject({ status: "filled", remainingSize: 0, reduceOnly: true });
  expect(reduced.size).toBe(reduced.filledSize);
  const rest = await placed(taker, { ...reducing, nonce: 100, margin: 5_000 });
  expect(rest).toMatchObject({ status: "filled", remainingSize: 0 });
  await clear();
});

test("resting order that a reduce-only market shrinks, then filled: its size is what it filled", async () => {
  await maker.place(maker.order({ side: "short", type: "limit", price: 65_010, margin: 100 }));
  const bought = await placed(taker, taker.order({ margin: 50 }));
  const asked = await taker.place(
    taker.order({ side: "short", type: "limit", price: 65_500, margin: 100 }),
  );
  await control("reduceOnly");
  const shrunk = await order(taker, asked.body.orderId);
  expect(shrunk).toMatchObject({ status: "resting", size: bought.filledSize });
  await control("resume");
  await maker.place(maker.order({ side: "long", type: "limit", price: 65_500 }));
  expect(await order(taker, asked.body.orderId)).toMatchObject({
    status: "filled",
    size: bought.filledSize,
  });
  await clear();
});

test("amended below what is filled: canceled, its size is what it was", async () => {
  const asked = await maker.place(
    maker.order({ side: "short", type: "limit", price: 65_010, margin: 100 }),
  );
  await placed(taker, taker.order({ margin: 50 }));
  const { orderId } = asked.body;
  const before = await order(maker, orderId);
  await maker.signed(`/v1/orders/${orderId}/amend`, { orderId, size: 0.00001, nonce: 90 });
  const after = await order(maker, orderId);
  expect(after).toMatchObject({ status: "canceled", size: before.size, reason: "requested" });
});
