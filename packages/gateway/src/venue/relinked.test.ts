/** An edge that loses its link to the core and gets another one: what its clients see. */

import { until } from "@perpgate/journal/testing";
import { expect, onTestFinished, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { StreamClient } from "../ws/testing/stream-client.js";
import { HeldOrders } from "./testing/held-orders.js";
import { type RunningVenue, runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

async function begin(): Promise<{ at: RunningVenue; trader: Trader; held: HeldOrders }> {
  const held = new HeldOrders();
  const at = await runVenue({ isRouted: true, held });
  onTestFinished(() => at.join());
  return { at, trader: await Trader.enter(at), held };
}

const openOrders = (trader: Trader) => trader.list("/v1/orders?status=open");

/** Once the edge is linked again. */
async function linked(at: RunningVenue): Promise<void> {
  at.join();
  await until(async () => (await ask(`${at.url}/readyz`)).status === 200);
}

test("an order in flight: sent again, executed once, with the answer of that", async () => {
  const { at, trader, held } = await begin();
  held.hold();
  const placed = trader.place(trader.limit("long", 64_000));
  await until(() => held.waiting === 1);
  at.cut();
  at.join();
  await until(() => held.waiting === 2);
  held.release();
  expect((await placed).status).toBe(200);
  expect(await openOrders(trader)).toHaveLength(1);
});

test("without a core: reads are refused as lagging, an order waits for it, the edge is not ready", async () => {
  const { at, trader } = await begin();
  at.cut();
  await until(async () => (await ask(`${at.url}/readyz`)).status === 503);
  const refused = await ask(`${at.url}/v1/markets`);
  expect([refused.status, refused.body]).toMatchObject([503, { code: "lagging" }]);
  expect((await ask(`${at.url}/healthz`)).status).toBe(200);
  const placed = trader.place(trader.limit("long", 64_000));
  await until(() => at.edge.link.inFlight > 0);
  at.join();
  expect((await placed).status).toBe(200);
});

test("a socket: gets the answer of what was in flight, closes, and loses nothing when it comes back", async () => {
  const { at, trader, held } = await begin();
  const client = await StreamClient.connect(at.url, trader.token);
  await client.ask({ op: "session", cancelOnDisconnect: true });
  const begun = await client.ask({ op: "subscribe", streams: ["orders", "book.BTCUSD"] });
  expect(begun).toMatchObject({ t: "ok" });
  await trader.place(trader.limit("long", 63_000));
  const seen = await client.next("orders");
  held.hold();
  const body = JSON.stringify(trader.limit("long", 64_000));
  const answer = client.ask({ op: "order", body, sig: trader.signatureOf(body)["x-service-sig"] });
  await until(() => held.waiting === 1);
  at.cut();
  at.join();
  await until(() => held.waiting === 2);
  held.release();
  expect(await answer).toMatchObject({ t: "ok" });
  expect(await client.closed).toMatchObject({ code: 1001 });
  const again = await StreamClient.connect(at.url, trader.token);
  await again.ask({ op: "subscribe", streams: ["orders"], since: seen.d.seq });
  expect((await again.next("orders")).d.seq).toBeGreaterThan(Number(seen.d.seq));
  await at.advance(30 * 200);
  // It came back in time: nothing was canceled.
  expect(await openOrders(trader)).toHaveLength(2);
  await again.close();
  await until(async () => (await openOrders(trader)).length === 0);
  expect(at.streamFaults).toEqual([]);
});

test("a socket with cancel-on-disconnect that does not come back: canceled after 25 ticks", async () => {
  const { at, trader } = await begin();
  const client = await StreamClient.connect(at.url, trader.token);
  await client.ask({ op: "session", cancelOnDisconnect: true });
  await trader.place(trader.limit("long", 63_000));
  at.cut();
  await client.closed;
  await linked(at);
  await at.advance(24 * 200);
  expect(await openOrders(trader)).toHaveLength(1);
  await at.advance(2 * 200);
  await until(async () => (await openOrders(trader)).length === 0);
});

test("books begin with a snapshot, and go on", async () => {
  const { at, trader } = await begin();
  const first = await StreamClient.connect(at.url);
  await first.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
  await trader.place(trader.limit("long", 63_000));
  await first.next("book");
  at.cut();
  await first.closed;
  await at.execute({ kind: "Tick", slot: Math.floor(at.nowMs() / 200) });
  await linked(at);
  const next = await StreamClient.connect(at.url);
  await next.ask({ op: "subscribe", streams: ["book.BTCUSD"] });
  const snapshot = await next.next("book");
  await trader.place(trader.limit("long", 63_100));
  const delta = await next.next("book");
  expect(Number(delta.d.prev)).toBe(Number(snapshot.d.seq));
  expect(at.streamFaults).toEqual([]);
});

test("a session that was ended meanwhile, at another edge: its token is refused", async () => {
  const { at, trader } = await begin();
  await trader.place(trader.limit("long", 63_000));
  at.cut();
  await until(async () => (await ask(`${at.url}/readyz`)).status === 503);
  const other = await at.connect();
  await other.request("endSession", { session: trader.session });
  await linked(at);
  expect((await trader.get("/v1/account")).status).toBe(401);
});
