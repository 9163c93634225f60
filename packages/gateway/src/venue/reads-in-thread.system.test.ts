/** Lists of the past of a venue whose store another thread reads: none reads the disk in the venue's thread. */

import { StoredTable } from "@perpgate/venue/testing";
import { expect, test, vi } from "vitest";
import { PRICES, runVenue, START_MS } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const { BTCUSD: PRICE = 0 } = PRICES;

test("lists and single entries of the past: the venue's thread reads nothing of the store for them", async () => {
  const at = await runVenue({ commit: "thread" });
  const [maker, taker] = [await Trader.enter(at), await Trader.enter(at)];
  await at.setIndex("BTCUSD", PRICE);
  const offer = { ...maker.limit("short", PRICE + 10), clientOrderId: "first" };
  const { body: resting } = await maker.place(offer);
  const { body: taken } = await taker.place(taker.order());
  await maker.cancel(resting.orderId);
  await at.advance(61_000);
  await at.venue.history.flush();
  const rows = vi.spyOn(StoredTable.prototype, "get");
  const ranges = vi.spyOn(StoredTable.prototype, "range");
  const read = async (path: string, holds: string) => {
    const { status, text } = await maker.get(path);
    expect({ path, status }).toEqual({ path, status: 200 });
    expect(text, path).toContain(holds);
  };
  const id = String(resting.orderId);
  const past = `from=${START_MS}&to=${START_MS + 60_000}`;
  for (const path of [
    "/v1/fills",
    `/v1/fills?${past}`,
    "/v1/orders?status=all",
    `/v1/orders?status=all&${past}`,
    `/v1/orders?status=all&nonce=${offer.nonce}`,
    "/v1/orders?status=all&clientOrderId=first",
    `/v1/orders/${id}`,
    `/v1/preconfirms/${id}`,
  ]) {
    await read(path, id);
  }
  await read("/v1/ledger", '"fee"');
  await read("/v1/funding-payments", "[");
  await read("/v1/bridge/deposits", "[");
  await read("/v1/bridge/withdrawals", "[");
  await read("/v1/markets/BTCUSD/trades", `"${String(taken.orderId)}-0"`);
  await read("/v1/markets/BTCUSD/candles?resolution=1m", '"open"');
  await read("/v1/markets/BTCUSD/funding", "[");
  await read("/v1/blocks/1", '"number":1,');
  await read("/v1/blocks/latest", '"number":');
  expect(rows.mock.calls).toEqual([]);
  expect(ranges.mock.calls).toEqual([]);
});
