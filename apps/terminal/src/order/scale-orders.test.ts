/** A ladder of orders, planned and then placed in an engine. */

import { BTC } from "@perpgate/engine/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { liquidationTicks, NO_HOLDING } from "../maths/position-maths.js";
import { Fixture } from "../testing/engine-fixture.js";
import { viewOf } from "../venue/market-view.js";
import { type ReadScale, readScale, type ScaleForm } from "./scale-orders.js";

const fixture = new Fixture(BTC);
const { tick, lot } = fixture.units;
const view = viewOf({
  symbol: "BTCUSD",
  base: "BTC",
  quote: "USD",
  tickSize: tick.size,
  lotSize: lot.size,
  minNotional: 1,
  minSize: lot.size,
  maxSize: 1_000,
  maxOpenInterest: 1e9,
  maxLeverage: 50,
  makerFee: BTC.config.makerFeePpm / 1e6,
  takerFee: BTC.config.takerFeePpm / 1e6,
  tiers: BTC.config.tiers.map((tier) => ({
    notionalUpTo: tier.upToMicros / 1e6,
    maxLeverage: tier.maxLeverage,
    maintenanceRate: tier.maintenancePpm / 1e6,
  })),
  indexPrice: BTC.startPrice,
  fundingRate: 0,
  nextFundingAt: null,
  status: "active",
  markPrice: BTC.startPrice,
});

const START: ScaleForm = {
  side: "long",
  unit: "size",
  amount: "0.1",
  leverage: "5",
  from: "64000",
  to: "63000",
  count: "5",
  skew: "even",
  reduceOnly: false,
};

function read(change: Partial<ScaleForm>, best = 650_000): ReadScale {
  const context = { markTicks: 650_000, bestOther: best, held: NO_HOLDING };
  return readScale(view, { ...START, ...change }, context);
}

describe("scale orders", () => {
  test("even: prices from the first to the last, sizes add up to the total", () => {
    const rows = read({ amount: "0.10002" }).plan?.rows ?? [];
    expect(rows.map(({ ticks }) => ticks)).toEqual([640_000, 637_500, 635_000, 632_500, 630_000]);
    expect(rows.map(({ lots }) => lots)).toEqual([2_001, 2_001, 2_000, 2_000, 2_000]);
  });

  test("rising and falling: the last has three times the first, or a third of it", () => {
    for (const [skew, share] of [
      ["rising", 3],
      ["falling", 1 / 3],
    ] as const) {
      const rows = read({ skew, amount: "1" }).plan?.rows ?? [];
      expect((rows.at(-1)?.lots ?? 0) / (rows[0]?.lots ?? 1)).toBeCloseTo(share, 2);
    }
  });

  test("what would fill, is too small, or closes more than there is: refused in the form", () => {
    expect(read({ from: "65000" }).problems.from).toBe("Must be below the best ask");
    expect(read({ side: "short" }, 650_000).problems.from).toBe("Must be above the best bid");
    expect(read({ count: "1" }).problems.count).toBeDefined();
    expect(read({ count: "51" }).problems.count).toBeDefined();
    expect(read({ amount: "0.00004" }).problems.amount).toBe("Too little for 5 orders");
    expect(read({ reduceOnly: true }).problems.amount).toBe("More than the position");
    expect(read({ leverage: "51" }).problems.leverage).toBeDefined();
    expect(read({ from: "" })).toEqual({ problems: {}, plan: undefined });
  });

  test("each unit and side: no more is ordered than was typed, and the sizes are whole lots", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<ScaleForm["side"]>("long", "short"),
        fc.constantFrom<ScaleForm["unit"]>("margin", "value", "size"),
        fc.constantFrom<ScaleForm["skew"]>("even", "rising", "falling"),
        fc.integer({ min: 2, max: 50 }),
        fc.integer({ min: 10_000, max: 1_000_000 }),
        (side, unit, skew, count, dollars) => {
          const [from, to] = side === "long" ? ["64999", "60000"] : ["65001", "70000"];
          const amount = unit === "size" ? (dollars / 65_000).toFixed(5) : String(dollars);
          const { plan } = read({ side, unit, skew, count: String(count), amount, from, to });
          expect(plan?.rows).toHaveLength(count);
          const value = (plan?.rows ?? []).reduce(
            (sum, { ticks, lots }) => sum + ticks * lots * fixture.units.unit,
            0,
          );
          if (unit === "size") expect(plan?.lots).toBe(Math.round(Number(amount) * 1e5));
          else expect(value).toBeLessThanOrEqual(dollars * (unit === "margin" ? 5 : 1) * 1e6);
          for (const operation of plan?.operations ?? []) {
            if (operation.op !== "place") throw new Error("not an order");
            expect(operation).toMatchObject({ side, postOnly: true, type: "limit" });
            expect(Math.round((operation.size ?? 0) * 1e5) / 1e5).toBe(operation.size);
          }
        },
      ),
    );
  });

  test("the engine's position after all fills is the plan's", () => {
    const { venue, trader } = fixture;
    const { plan } = read({ skew: "rising", from: "49950", to: "49700" });
    if (plan === undefined) throw new Error("no plan");
    for (const { ticks, lots } of plan.rows) {
      const price = ticks / BTC.ticksPerDollar;
      trader.buys("limit", { size: lots / BTC.lotsPerCoin, price, leverage: 5, postOnly: true });
    }
    venue.trader("seller", 5_000_000).sells("limit", { size: 5, price: 49_690, leverage: 2 });
    const held = fixture.held();
    expect(held.lots).toBe(plan.after.lots);
    expect(held.costMicros).toBe(plan.after.costMicros);
    expect(liquidationTicks(fixture.units, held)).toBe(liquidationTicks(fixture.units, plan.after));
  });
});
