/** Numbers at the bounds of queries and paths, against a venue with data. */

import { expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

async function traded() {
  const at = await runVenue();
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  await maker.place(maker.limit("short", 65_000));
  await taker.place(taker.limit("long", 65_000));
  await at.advance(400);
  return { at, taker };
}

test("candles before: as far as integers are exact, and no further", async () => {
  const { at } = await traded();
  const path = `${at.url}/v1/markets/BTCUSD/candles?resolution=1m`;
  const all = JSON.parse((await ask(path)).text);
  expect(all).toHaveLength(1);
  for (const before of [Number.MAX_SAFE_INTEGER, 2 ** 52, 2 ** 48 + 1]) {
    const { status, text } = await ask(`${path}&before=${before}`);
    expect({ status, candles: JSON.parse(text) }, `${before}`).toEqual({
      status: 200,
      candles: all,
    });
  }
  for (const before of ["9007199254740992", "18446744073709551616", "1e3", "-1"]) {
    expect(await ask(`${path}&before=${before}`), before).toMatchObject({
      status: 400,
      body: { code: "invalid_request", field: "before" },
    });
  }
});

test("fills before an id that no fill has yet: the newest, however large the id", async () => {
  const { taker } = await traded();
  const all = await taker.list("/v1/fills");
  expect(all).toHaveLength(1);
  for (const before of [
    "9007199254740991",
    "9007199254740991-4294967295",
    "9007199254740991-9999999999",
    "9999999999999999",
    "9999999999999999-9999999999",
    `${String(all[0]?.id).split("-")[0]}-9999999999`,
  ]) {
    expect(await taker.list(`/v1/fills?before=${before}`), before).toEqual(all);
  }
  for (const before of ["0", "0-9999999999", "1"]) {
    expect(await taker.list(`/v1/fills?before=${before}`), before).toEqual([]);
  }
});

test("ids above every seq: not found", async () => {
  const { taker } = await traded();
  for (const id of ["9007199254740991", "9999999999999999"]) {
    for (const path of ["orders", "preconfirms", "bridge/deposits"]) {
      expect((await taker.get(`/v1/${path}/${id}`)).status, `${path} ${id}`).toBe(404);
    }
    expect((await taker.cancel(id)).status).toBe(404);
  }
});

test("a batch that cancels ids above every seq: not found, and the venue trades on", async () => {
  const { taker } = await traded();
  for (const orderId of ["9007199254740991", "9007199254740992", "9999999999999999"]) {
    const operations = [{ op: "cancel", orderId }];
    const body = { nonce: taker.limit("long", 60_000).nonce, operations };
    const { status, text } = await taker.signed("/v1/orders/batch", body);
    expect({ status, body: JSON.parse(text) }, orderId).toMatchObject({
      status: 200,
      body: { results: [{ error: { code: "order_not_found" } }] },
    });
  }
  expect((await taker.place(taker.limit("long", 60_000))).status).toBe(200);
});

test("sign-in: a message that expires before it is applied is refused as expired", async () => {
  const at = await runVenue();
  await at.advance(200);
  const trader = new Trader(at);
  const expirationTime = new Date(at.nowMs() + 500).toISOString();
  // The log is ahead of this gateway's clock, as that of a venue with several gateways may be.
  await at.execute({ kind: "Tick", slot: Math.floor((at.nowMs() + 800) / 200) });
  expect(await trader.signIn({ expirationTime })).toMatchObject({
    status: 401,
    body: {
      code: "siwe_message_expired",
      field: "message",
      message: expect.stringContaining(expirationTime),
    },
  });
});
