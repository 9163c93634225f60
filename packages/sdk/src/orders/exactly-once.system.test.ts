/**
 * Whatever the network does, an order that is placed once exists once.
 */

import { CuttingProxy, type Fate } from "@perpgate/gateway/testing";
import { Random } from "@perpgate/protocol/random";
import type { NewOrder, PlacedOrder, RequestLike, Session } from "@perpgate/sdk";
import { expect, test } from "vitest";
import { BID, newClient, newSession, startVenue } from "../testing/venue.js";

const ORDERS = 3_000;
/** The others use sockets, which have more in flight and lose more with each cut. */
const OVER_REST = 1_000;
const CONCURRENCY = 64;
const SEED = 20_261_115;
const CUTS: readonly Fate[] = ["cut before", "cut within", "cut after"];

type Place = (order: NewOrder) => Promise<PlacedOrder>;

/** Half of them rest, each with one or a few lots; the others find an empty book and are canceled. */
function orderOf(number: number): NewOrder {
  const order = { symbol: "BTCUSD", side: "long", leverage: 1 } as const;
  if (number % 2 === 1) return { ...order, type: "market", margin: 1 };
  return {
    ...order,
    type: "limit",
    margin: 0.7 + (number % 7) * 0.65,
    price: 64_000 - (number % 100),
  };
}

/** Places `count` orders, `CONCURRENCY` at a time. */
async function placeAll(place: Place, count: number): Promise<PlacedOrder[]> {
  const acks: PlacedOrder[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) acks.push(await place(orderOf(next++)));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return acks;
}

/**
 * Spoils one of `oneIn` chunks. One in ten of those is swallowed, which is slow: only a time-out
 * detects it, and it delays everything in flight on a socket.
 */
function randomFate(random: Random, oneIn: number): () => Fate {
  return () => {
    if (random.below(oneIn) > 0) return "pass";
    return random.below(10) === 0 ? "swallow" : (CUTS[random.below(CUTS.length)] ?? "pass");
  };
}

test(`${ORDERS} orders over connections that are cut at random: each exists exactly once`, async () => {
  const at = await startVenue({
    parameters: { maxOpenOrders: ORDERS, minNotional: 0 },
    sockets: { messagesPerSecond: 1e6, messagesBurst: 1e6 },
  });
  /** What the venue itself executed, by account and nonce. */
  const executed: string[] = [];
  at.venue.observe({
    onCommand: (applied) => {
      const outcome = at.venue.views.outcome(applied);
      if (outcome.kind === "acknowledged") executed.push(outcome.acknowledgement.ackNonce);
    },
  });
  const random = new Random(SEED);
  // A request is one or two chunks each way on its own connection; a socket has 64 in flight.
  const rest = await CuttingProxy.before(at.url);
  const socket = await CuttingProxy.before(at.url);
  const patient = { timeoutMs: 1_500, retries: 100, budgetMs: 120_000, messagesPerSecond: 1e6 };
  const [overRest, overSocket] = [
    await newSession(newClient(rest, patient)),
    await newSession(newClient(socket, patient)),
  ];
  rest.fate = randomFate(random, 40);
  socket.fate = randomFate(random, 30);

  const [restAcks, socketAcks] = await Promise.all([
    placeAll((order) => overRest.placeOrder(order), OVER_REST),
    placeAll((order) => overSocket.stream.placeOrder(order), ORDERS - OVER_REST),
  ]);
  rest.fate = () => "pass";
  socket.fate = () => "pass";

  const acks = [...restAcks, ...socketAcks];
  const replays = acks.filter(({ replayed }) => replayed).length;
  const printed = `seed ${SEED}: ${rest.cuts} + ${socket.cuts} cuts, ${replays} answers were replays`;
  expect(rest.cuts, printed).toBeGreaterThan(20);
  expect(socket.cuts, printed).toBeGreaterThan(3);
  expect(replays, printed).toBeGreaterThan(0);
  // The venue executed these orders and no others.
  expect(acks.length).toBe(ORDERS);
  expect(executed.length, printed).toBe(ORDERS);
  expect(new Set(acks.map(({ ackNonce }) => ackNonce))).toEqual(new Set(executed));
  for (const [session, own] of [
    [overRest, restAcks],
    [overSocket, socketAcks],
  ] as const) {
    expect(new Set(own.map(({ nonce }) => nonce)).size).toBe(own.length);
    await expectOpen(session, own);
  }
  // Nothing rests twice: the book has the sum of the acknowledged sizes.
  const { bids } = await newClient(at).book("BTCUSD", { depth: 5_000 });
  expect(lotsOf(bids.map(([, size]) => size))).toBe(
    lotsOf(acks.filter(({ status }) => status === "resting").map((ack) => ack.remainingSize)),
  );
}, 240_000);

test("cancel by client id whose answer is lost: canceled", async () => {
  const at = await startVenue();
  let lost = 0;
  const fetch = async (url: string, init: RequestLike) => {
    const answer = await globalThis.fetch(url, init);
    if (!url.endsWith("/orders/cancel") || lost > 0) return answer;
    lost++;
    throw new TypeError("fetch failed");
  };
  const session = await newSession(newClient(at, { fetch }));
  const clientOrderId = "bid-1";
  const { orderId, remainingSize } = await session.placeOrder({ ...BID, clientOrderId });
  expect(await session.cancelOrder({ clientOrderId })).toEqual({
    orderId,
    status: "canceled",
    remainingSize,
  });
  expect(lost).toBe(1);
  // The first try is answered: there is none.
  await expect(session.cancelOrder({ clientOrderId })).rejects.toMatchObject({
    code: "order_not_found",
    attempts: 1,
  });
  // Never placed, and the first answer is lost.
  lost = 0;
  await expect(session.cancelOrder({ clientOrderId: "bid-2" })).rejects.toMatchObject({
    code: "order_not_found",
    attempts: 2,
  });
});

async function expectOpen(session: Session, acks: readonly PlacedOrder[]): Promise<void> {
  const resting = acks.filter(({ status }) => status === "resting");
  const open = await session.openOrders({ timeoutMs: 60_000 });
  expect(resting.length).toBe(acks.length / 2);
  expect(new Set(open.map(({ orderId }) => orderId))).toEqual(
    new Set(resting.map(({ orderId }) => orderId)),
  );
  expect(open.length).toBe(resting.length);
}

function lotsOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + Math.round(size * 100_000), 0);
}
