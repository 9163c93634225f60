/** The time of an acknowledgement: when the log took the order, the same in every answer. */

import { expect, test } from "vitest";
import { StreamClient } from "../ws/testing/stream-client.js";
import { newFolder, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const BID = { symbol: "BTCUSD", side: "long", type: "limit", size: 0.01, leverage: 5 };

test("acknowledgement: has the log's time, over REST, socket, batch and stream, and in a replay", async () => {
  const directory = newFolder();
  const at = await runVenue({ directory });
  const trader = await Trader.enter(at);
  const client = await StreamClient.connect(at.url, trader.token);
  await client.ask({ op: "subscribe", streams: ["preconfirms"] });
  const overSocket = (op: string, body: object) => {
    const text = JSON.stringify(body);
    return client.ask({ op, body: text, sig: trader.signatureOf(text)["x-service-sig"] });
  };

  const order = { ...BID, price: 60_000, nonce: 1 };
  const placed = await trader.place(order);
  const time = at.nowMs();
  const { orderId } = placed.body;
  expect(placed.body.time).toBe(time);
  expect((await trader.get(`/v1/orders/${orderId}`)).body.createdAt).toBe(time);
  expect((await client.next("preconfirms")).d.time).toBe(time);

  await at.advance(1_000);
  const amendment = { orderId, price: 60_100, nonce: 2 };
  const amended = await trader.signed(`/v1/orders/${orderId}/amend`, amendment);
  expect(amended.body.time).toBe(time + 1_000);
  const batch = { nonce: 3, operations: [{ op: "place", ...BID, price: 60_000 }] };
  const ofBatch = { results: [{ ack: { time: time + 1_000 } }] };
  expect((await trader.signed("/v1/orders/batch", batch)).body).toMatchObject(ofBatch);

  await at.advance(1_000);
  expect((await trader.place(order)).body.time).toBe(time);
  expect(await overSocket("order", order)).toMatchObject({ d: { ack: { time }, replayed: true } });
  expect(await overSocket("batch", batch)).toMatchObject({ d: { batch: ofBatch, replayed: true } });

  await at.stop();
  const again = await runVenue({ directory, startMs: at.nowMs() + 60_000 });
  const back = trader.movedTo(again);
  expect((await back.place(order)).body).toEqual({
    ...placed.body,
    elapsedMs: expect.any(Number),
  });
});
