/** What clients see of a venue that keeps the last minute of its history. */

import { expect, test } from "vitest";
import { ask } from "../testing/running-gateway.js";
import { PRICES, runVenue, START_MS } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const HEADER = "perpgate-history-before";
const { BTCUSD: PRICE = 0 } = PRICES;

/** Two trades of which a minute and a half later one is kept. */
async function windowed() {
  const at = await runVenue({ retention: { hotMs: 60_000 }, outboxCommands: 4 });
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  const trade = async () => {
    // The last one is stale by now.
    await at.setIndex("BTCUSD", PRICE);
    const offer = maker.limit("short", PRICE + 10);
    const { body: asked } = await maker.place(offer);
    const { body } = await taker.place(taker.order());
    await maker.cancel(asked.orderId);
    return { offer, orderId: String(body.orderId) };
  };
  const old = await trade();
  const { body: resting } = await maker.place(maker.limit("long", PRICE - 1_000));
  await at.advance(90_000);
  const kept = await trade();
  await at.advance(400);
  const { historyBefore } = at.venue.history;
  return { at, maker, taker, old, kept, resting, historyBefore };
}

test("lists that reach the beginning of the window: they say so, in a header", async () => {
  const { at, taker, old, kept, historyBefore } = await windowed();
  expect(historyBefore).toBeGreaterThan(Number(old.orderId));
  expect(historyBefore).toBeLessThan(Number(kept.orderId));
  const edge = String(historyBefore);
  for (const path of ["/v1/fills", "/v1/ledger", "/v1/orders?status=all"]) {
    const all = await taker.get(path);
    expect(all.headers.get(HEADER), path).toBe(edge);
    expect(all.text).toContain(kept.orderId);
    // A page that is full leaves the question open.
    const mark = path.includes("?") ? "&" : "?";
    expect((await taker.get(`${path}${mark}limit=1`)).headers.get(HEADER)).toBeNull();
    // From the beginning on, and from within the window.
    expect((await taker.get(`${path}${mark}after=1`)).headers.get(HEADER)).toBe(edge);
    const later = `${path}${mark}after=${historyBefore}`;
    expect((await taker.get(later)).headers.get(HEADER)).toBeNull();
    const recent = `${path}${mark}from=${START_MS + 80_000}`;
    expect((await taker.get(recent)).headers.get(HEADER)).toBeNull();
  }
  const fills = await taker.list("/v1/fills");
  expect(fills.map(({ orderId }) => orderId)).toEqual([kept.orderId]);
  const trades = await ask(`${at.url}/v1/markets/BTCUSD/trades`);
  expect(JSON.parse(trades.text)).toHaveLength(1);
  expect(trades.headers.get(HEADER)).toBe(edge);
  const { body: status } = await ask(`${at.url}/v1/status`);
  expect(status.historyBefore).toMatchObject({ position: edge });
  // What is kept of all times ends nowhere.
  const candles = await ask(`${at.url}/v1/markets/BTCUSD/candles?resolution=1m`);
  expect(JSON.parse(candles.text).length).toBeGreaterThan(1);
  expect(candles.headers.get(HEADER)).toBeNull();
});

test("what is before the window, by its id: 410 history_not_kept; an open order stays", async () => {
  const { maker, taker, old, resting, historyBefore } = await windowed();
  const gone = { status: 410, body: { code: "history_not_kept", details: { historyBefore } } };
  expect(await taker.get(`/v1/orders/${old.orderId}`)).toMatchObject(gone);
  expect(await taker.get(`/v1/preconfirms/${old.orderId}`)).toMatchObject(gone);
  expect(await maker.place(old.offer)).toMatchObject(gone);
  const open = await maker.get(`/v1/orders/${resting.orderId}`);
  expect(open.body).toMatchObject({ orderId: resting.orderId, status: "resting" });
  const listed = await maker.list("/v1/orders?status=all");
  expect(listed.map(({ orderId }) => orderId)).toContain(resting.orderId);
  const { body: canceled } = await maker.cancel(resting.orderId);
  expect(canceled.status).toBe("canceled");
  const ended = await maker.get(`/v1/orders/${resting.orderId}`);
  expect(ended.body).toMatchObject({ orderId: resting.orderId, status: "canceled" });
});
