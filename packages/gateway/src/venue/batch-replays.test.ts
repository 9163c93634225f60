/** The same batch again, after its orders have moved on: the stored results, refusals included. */

import { afterAll, expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const at = await runVenue({}, afterAll);
const BID = {
  symbol: "BTCUSD",
  side: "long",
  type: "limit",
  size: 0.01,
  leverage: 5,
  price: 60_000,
};
const PLACE = { op: "place", ...BID };

interface Result {
  readonly status: number;
  readonly error?: { readonly code: string; readonly details?: object };
}

async function batch(trader: Trader, nonce: number, operations: object[]) {
  const { headers, body } = await trader.signed("/v1/orders/batch", { nonce, operations });
  const results: Result[] = Object(body).results;
  return {
    isReplay: headers.get("idempotent-replay") === "true",
    refusals: results.map(({ status, error }) => [status, error?.code, error?.details]),
  };
}

test("an amendment was refused and its order ended since: the first refusal", async () => {
  const trader = await Trader.enter(at);
  const { orderId } = (await trader.signed("/v1/orders", { ...BID, nonce: 1 })).body;
  await trader.signed("/v1/orders", { ...BID, clientOrderId: "named", nonce: 2 });
  const operations = [
    PLACE,
    { op: "amend", orderId, price: 90_000 },
    { op: "amend", clientOrderId: "named", price: 90_000 },
    { op: "amend", orderId, price: 60_000.05 },
    { op: "amend", clientOrderId: "named", size: 0.000_015 },
  ];
  const first = await batch(trader, 3, operations);
  expect(first.refusals.map(([, code]) => code)).toEqual([
    undefined,
    "price_outside_band",
    "price_outside_band",
    "price_not_on_tick",
    "size_not_on_lot",
  ]);
  await trader.send("/v1/orders/cancel-all", {});
  expect(await batch(trader, 3, operations)).toEqual({ ...first, isReplay: true });
});

test("an order was not there and is now, or had ended: the first refusal", async () => {
  const trader = await Trader.enter(at);
  const { orderId } = (await trader.signed("/v1/orders", { ...BID, nonce: 1 })).body;
  await trader.send("/v1/orders/cancel", { orderId });
  const operations = [
    PLACE,
    { op: "amend", clientOrderId: "later", price: 60_100 },
    { op: "cancel", clientOrderId: "later" },
    { op: "amend", orderId, price: 60_100 },
    { op: "cancel", orderId },
  ];
  const first = await batch(trader, 2, operations);
  expect(first.refusals.map(([status, code]) => [status, code])).toEqual([
    [200, undefined],
    [404, "order_not_found"],
    [404, "order_not_found"],
    [409, "order_not_amendable"],
    [409, "order_not_cancelable"],
  ]);
  await trader.signed("/v1/orders", { ...BID, clientOrderId: "later", nonce: 3 });
  expect(await batch(trader, 2, operations)).toEqual({ ...first, isReplay: true });
});

test("a name that another market's order has since: the first refusal, in the first one's units", async () => {
  const trader = await Trader.enter(at);
  await trader.signed("/v1/orders", { ...BID, clientOrderId: "a", nonce: 1 });
  const operations = [PLACE, { op: "amend", clientOrderId: "a", price: 90_000 }];
  const first = await batch(trader, 2, operations);
  expect(first.refusals[1]?.[1]).toBe("price_outside_band");
  await trader.send("/v1/orders/cancel", { clientOrderId: "a" });
  const other = { ...BID, symbol: "ETHUSD", price: 3_000, clientOrderId: "a", nonce: 3 };
  expect((await trader.signed("/v1/orders", other)).status).toBe(200);
  expect(await batch(trader, 2, operations)).toEqual({ ...first, isReplay: true });
});
