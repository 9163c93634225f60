import { expect, onTestFinished, test } from "vitest";
import { assertVenue, type SandboxVenue, sandboxMatchers, startVenue } from "./index.js";

test("assertions: what a trader has filled, has open and holds, and what was refused", async () => {
  const venue = await startVenue({ until: onTestFinished });
  const trader = await venue.trader();
  const order = { symbol: "BTCUSD", side: "long", margin: 100, leverage: 5 } as const;
  await trader.placeOrder({ ...order, type: "market" });
  await trader.placeOrder({ ...order, type: "limit", price: 60_000 });
  venue.faults.refuse("stale_index", { values: { symbol: "BTCUSD", maxAgeSeconds: 10 } });
  await expect(trader.placeOrder({ ...order, type: "market" })).rejects.toThrow();
  const that = assertVenue(venue);
  await that.toHaveFilled(trader, { symbol: "BTCUSD", side: "long", kind: "order" });
  await that.toHaveOpenOrder(trader, { price: 60_000, type: "limit" });
  await that.toHavePosition(trader, { symbol: "BTCUSD" });
  await that.toHaveRefused("stale_index", 1);
  await expect(that.toHaveFilled(trader, { kind: "liquidation" })).rejects.toThrow(
    '0 of 1 rows are a fill with {"kind":"liquidation"}; there is [{',
  );
  await that.not.toHaveFilled(trader, { kind: "liquidation" });
  await expect(that.not.toHaveRefused("stale_index")).rejects.toThrow("refused with stale_index 1");
  await expect(that.toHaveRefused("rate_limited")).rejects.toThrow(
    'refused with rate_limited 0 times; by code: {"stale_index":1}',
  );
  const verdict = await sandboxMatchers.toHaveFilled(venue, trader, { side: "short" });
  expect(verdict.pass).toBe(false);
});

test("expect.extend: the assertions have types in vitest and jest", async () => {
  expect.extend(sandboxMatchers);
  const venue = await startVenue({ until: onTestFinished });
  const trader = await venue.trader();
  await trader.placeOrder({
    symbol: "BTCUSD",
    side: "long",
    margin: 100,
    leverage: 5,
    type: "market",
  });
  await expect(venue).toHaveFilled(trader, { side: "long", kind: "order" });
  await expect(venue).toHavePosition(trader, { symbol: "BTCUSD" });
  await expect(venue).not.toHaveOpenOrder(trader);
  await expect(venue).not.toHaveRefused("rate_limited");
  await expect(expect(venue).toHaveFilled(trader, { side: "short" })).rejects.toThrow(
    "0 of 1 rows",
  );
  type Filled = Parameters<jest.Matchers<void, SandboxVenue>["toHaveFilled"]>;
  const wanted: Filled[1] = { side: "short" };
  await expect(venue).not.toHaveFilled(trader, wanted);
  // @ts-expect-error A fill has no such field.
  const wrong: Filled[1] = { sides: "long" };
  await expect(venue).not.toHaveFilled(trader, wrong);
});
