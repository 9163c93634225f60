/**
 * Amendments that race with fills, cancels and other amendments of the same order, from two sessions
 * concurrently, one over REST and one over a socket. The log decides; each answer, the order and the
 * fills must agree with its order.
 */
import { afterAll, expect, test } from "vitest";
import { type Frame, StreamClient } from "../ws/testing/stream-client.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const ROUNDS = 24;
const at = await runVenue({}, afterAll);
const BID = { symbol: "BTCUSD", side: "long", type: "limit", leverage: 5, size: 0.02 };
let nonce = 0;

const owner = await Trader.enter(at);
const partner = await owner.again();
const other = await Trader.enter(at);

/** An amendment by the second session, over its socket. */
function amendBy(socket: StreamClient, body: object): Promise<Frame> {
  const text = JSON.stringify({ ...body, nonce: ++nonce });
  const sig = partner.signatureOf(text)["x-service-sig"];
  return socket.ask({ op: "amend", body: text, sig });
}

function ackOf(frame: Frame): Readonly<Record<string, unknown>> | undefined {
  const { ack } = frame.d;
  return frame.t === "ok" && typeof ack === "object" && ack !== null ? { ...ack } : undefined;
}

/**
 * Both concurrently. The second one starts some turns of the event loop after the first, more in each
 * round, and they take turns at being the first, so that the log gets them in both orders.
 */
async function race<A, B>(
  round: number,
  a: () => Promise<A>,
  b: () => Promise<B>,
): Promise<[A, B]> {
  if (round % 2 === 0) {
    const first = a();
    await turns(2 ** (round / 2));
    return Promise.all([first, b()]);
  }
  const first = b();
  await turns(2 ** (round / 2));
  return [await a(), await first];
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function bidAt(price: number): Promise<string> {
  const { body } = await owner.signed("/v1/orders", { ...BID, price, nonce: ++nonce });
  expect(body.status).toBe("resting");
  return String(body.orderId);
}

test("amend and fill: the fill is at the price, and of the size, that its place in the log has", async () => {
  const socket = await StreamClient.connect(at.url, partner.token);
  const orders = new Set<boolean>();
  for (let round = 0; round < ROUNDS; round++) {
    const price = 64_000 + round;
    const orderId = await bidAt(price);
    const change = round % 3 === 0 ? { size: 0.01 } : { price: price + 0.5 };
    const sale = { ...BID, side: "short", size: 0.01, price, timeInForce: "ioc", nonce: round + 1 };
    const [sold, amended] = await race(
      round,
      () => other.signed("/v1/orders", sale),
      () => amendBy(socket, { orderId, ...change }),
    );
    expect(sold.body).toMatchObject({ status: "filled", filledSize: 0.01 });
    const amendment = ackOf(amended);
    const order = (await owner.get(`/v1/orders/${orderId}`)).body;
    const isAmendedFirst = Number(amendment?.ackNonce) < Number(sold.body.ackNonce);
    orders.add(isAmendedFirst);
    const fill = (await other.list("/v1/fills?limit=1"))[0];
    const fillPrice = "price" in change && isAmendedFirst ? price + 0.5 : price;
    expect(fill, `round ${round}`).toMatchObject({ price: fillPrice, size: 0.01 });
    if ("price" in change) {
      expect(order).toMatchObject({ status: "resting", filledSize: 0.01, remainingSize: 0.01 });
      expect(order.price).toBe(price + 0.5);
    } else if (isAmendedFirst) {
      expect(amendment).toMatchObject({ status: "resting", remainingSize: 0.01 });
      expect(order).toMatchObject({ status: "filled", filledSize: 0.01, remainingSize: 0 });
    } else {
      // All of the new total was filled before: the rest is canceled.
      expect(amendment).toMatchObject({ status: "canceled", reason: "requested" });
      expect(order).toMatchObject({ status: "canceled", filledSize: 0.01, remainingSize: 0.01 });
    }
    await owner.cancel(orderId);
  }
  expect(orders.size).toBe(2);
});

test("amend and cancel: the order is canceled, at the price that it had", async () => {
  const socket = await StreamClient.connect(at.url, partner.token);
  const orders = new Set<boolean>();
  for (let round = 0; round < ROUNDS; round++) {
    const orderId = await bidAt(60_000);
    const [canceled, amended] = await race(
      round,
      () => owner.cancel(orderId),
      () => amendBy(socket, { orderId, price: 60_001 }),
    );
    expect([canceled.status, canceled.body.status]).toEqual([200, "canceled"]);
    const ack = ackOf(amended);
    orders.add(ack !== undefined);
    if (ack === undefined) expect(amended.d).toMatchObject({ code: "order_not_amendable" });
    const { body } = await owner.get(`/v1/orders/${orderId}`);
    const price = ack === undefined ? 60_000 : 60_001;
    expect(body).toMatchObject({ status: "canceled", reason: "requested", price });
    expect(await owner.list("/v1/orders")).toEqual([]);
  }
  expect(orders.size).toBe(2);
});

test("two amendments: both count, the later one in the log stays", async () => {
  const socket = await StreamClient.connect(at.url, partner.token);
  const orders = new Set<boolean>();
  const orderId = await bidAt(60_000);
  for (let round = 1; round <= ROUNDS; round++) {
    const mine = { orderId, price: 60_000 + round, nonce: ++nonce };
    const [rest, amended] = await race(
      round,
      () => owner.signed(`/v1/orders/${orderId}/amend`, mine),
      () => amendBy(socket, { orderId, price: 61_000 + round }),
    );
    const isMineLast = Number(rest.body.ackNonce) > Number(ackOf(amended)?.ackNonce);
    orders.add(isMineLast);
    const [order] = await owner.list("/v1/orders");
    expect(order).toMatchObject({ orderId, price: (isMineLast ? 60_000 : 61_000) + round });
    expect((await owner.get("/v1/markets/BTCUSD/book")).body.bids).toEqual([[order?.price, 0.02]]);
  }
  expect(orders.size).toBe(2);
});
