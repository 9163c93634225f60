/** Compares each estimate with the same order placed in an engine. */

import { BTC, DUST, SOL, Venue } from "@perpgate/engine/testing";
import type { Holding } from "@perpgate/protocol/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fixture, unitsOf } from "../testing/engine-fixture.js";
import type { OrderIntent } from "./order-preview.js";
import { liquidationTicks, NO_HOLDING } from "./position-maths.js";

const direction = fc.constantFrom<1 | -1>(1, -1);
const orders = fc.array(
  fc.record({
    direction,
    marginMicros: fc.integer({ min: 1, max: 400_000_000 }),
    leverage: fc.integer({ min: 1, max: 20 }),
    reduceOnly: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

describe.each([
  ["BTCUSD", BTC],
  ["SOLUSD", SOL],
])("preview of %s against the engine", (_, listing) => {
  test("market orders that open, add, reduce or flip: size, fee and position to the micro", () => {
    let compared = 0;
    fc.assert(
      fc.property(orders, (wanted) => {
        const fixture = new Fixture(listing);
        let held = NO_HOLDING;
        for (const order of wanted) {
          const intent: OrderIntent = { ...order, type: "market", priceTicks: 0 };
          const preview = fixture.preview(intent, held);
          const ack = fixture.place(intent);
          if (ack === undefined || preview === undefined) continue;
          compared++;
          expect(preview.takingLots).toBe(ack.filledLots);
          expect(preview.feeMicros).toBe(ack.feeMicros);
          expect(preview.notionalMicros).toBe(ack.filledMicros);
          held = fixture.held();
          expect(preview.after).toEqual(held);
          expectLiquidationAt(fixture, held, preview.liquidationTicks);
        }
      }),
      { numRuns: 60 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  test("market sale whose rest is a lot only at the next bid: stops before that bid", () => {
    const fixture = new Fixture(listing);
    const { bids, microsPerTickLot } = fixture.venue.market();
    const intent: OrderIntent = {
      direction: -1,
      type: "market",
      // Ten lots at the best bid, and one more at the second.
      marginMicros: (10 * bids.ticksAt(0) + bids.ticksAt(1)) * microsPerTickLot,
      leverage: 1,
      priceTicks: 0,
      reduceOnly: false,
    };
    const preview = fixture.preview(intent, NO_HOLDING);
    expect(fixture.place(intent)).toMatchObject({ filledLots: 10, status: 0 });
    expect(preview).toMatchObject({ takingLots: 10, unspentMicros: 0 });
  });

  test("reduce-only market sale over two bids: sized at the best bid", () => {
    const fixture = new Fixture(listing);
    const { bids, microsPerTickLot } = fixture.venue.market();
    const order = { type: "market", leverage: 1, priceTicks: 0, reduceOnly: false } as const;
    fixture.place({ ...order, direction: 1, marginMicros: 20_000_000_000 });
    const held = fixture.held();
    const first = bids.lotsAt(0);
    expect(held.lots).toBeGreaterThan(first + 1);
    const paysOneMoreBelow = first * bids.ticksAt(0) + 2 * bids.ticksAt(1);
    const marginMicros = paysOneMoreBelow * microsPerTickLot;
    const intent: OrderIntent = { ...order, direction: -1, marginMicros, reduceOnly: true };
    const preview = fixture.preview(intent, held);
    expect(fixture.place(intent)).toMatchObject({ filledLots: first + 1 });
    expect(preview?.takingLots).toBe(first + 1);
  });

  test("limit orders: filled and resting lots", () => {
    const prices = fc.integer({ min: -60, max: 60 });
    fc.assert(
      fc.property(orders, prices, (wanted, offset) => {
        const fixture = new Fixture(listing);
        const start = listing.startPrice * listing.ticksPerDollar;
        const priceTicks = start + Math.round((start * offset) / 10_000);
        for (const order of wanted.slice(0, 1)) {
          const intent: OrderIntent = { ...order, reduceOnly: false, type: "limit", priceTicks };
          const preview = fixture.preview(intent, NO_HOLDING);
          const ack = fixture.place(intent);
          if (ack === undefined) continue;
          expect(preview?.takingLots).toBe(ack.filledLots);
          expect(preview?.waitingLots).toBe(ack.remainingLots);
        }
      }),
      { numRuns: 120 },
    );
  });

  test("orders with a size, a worst price or a time in force: filled and resting lots", () => {
    let compared = 0;
    const terms = fc.record({
      direction,
      type: fc.constantFrom<"market" | "limit">("market", "limit"),
      coins: fc.integer({ min: 1, max: 300_000 }),
      leverage: fc.integer({ min: 1, max: 20 }),
      reduceOnly: fc.boolean(),
      offset: fc.integer({ min: -60, max: 60 }),
      timeInForce: fc.constantFrom<"gtc" | "ioc" | "fok">("gtc", "ioc", "fok"),
    });
    fc.assert(
      fc.property(fc.array(terms, { minLength: 1, maxLength: 4 }), (wanted) => {
        const fixture = new Fixture(listing);
        const start = listing.startPrice * listing.ticksPerDollar;
        for (const { offset, coins, ...order } of wanted) {
          const held = fixture.held();
          const intent: OrderIntent = {
            ...order,
            ...(order.type === "market" ? { timeInForce: "ioc" } : {}),
            marginMicros: 0,
            sizeLots: coins,
            priceTicks: start + Math.round((start * offset) / 10_000),
          };
          const preview = fixture.preview(intent, held);
          const ack = fixture.place(intent);
          if (ack === undefined || fixture.trader.openOrders() > 0) return;
          compared++;
          expect(preview?.takingLots).toBe(ack.filledLots);
          expect(preview?.feeMicros).toBe(ack.feeMicros);
          expect(preview?.after).toEqual(fixture.held());
          expect((preview?.unspentMicros ?? 0) > 0).toBe(ack.remainingLots > 0);
        }
      }),
      { numRuns: 150 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  test("stop orders: waiting lots", () => {
    const fixture = new Fixture(listing);
    const priceTicks = Math.round(listing.startPrice * listing.ticksPerDollar * 1.01);
    const intent: OrderIntent = {
      direction: 1,
      type: "stop",
      marginMicros: 123_456_789,
      leverage: 7,
      priceTicks,
      reduceOnly: false,
    };
    const preview = fixture.preview(intent, NO_HOLDING);
    expect(fixture.place(intent)).toMatchObject({ remainingLots: preview?.waitingLots });
    expect(preview?.takingLots).toBe(0);
  });
});

function expectLiquidationAt(fixture: Fixture, held: Holding, ticks: number | null): void {
  const { maintenance, microsPerTickLot } = fixture.venue.market();
  const isDue = (mark: number): boolean => {
    const value = held.lots * mark * microsPerTickLot;
    return held.marginMicros + value - held.costMicros <= maintenance.of(Math.abs(value));
  };
  if (held.lots === 0) expect(ticks).toBeNull();
  else if (ticks === null) expect(isDue(1)).toBe(false);
  else {
    expect(isDue(ticks)).toBe(true);
    expect(isDue(ticks + Math.sign(held.lots))).toBe(false);
  }
}

test("maintenance: equals the engine's around every tier bound", () => {
  for (const listing of [BTC, SOL, DUST]) {
    const { maintenance } = new Venue({ markets: [listing] }).market();
    const units = unitsOf(listing);
    for (const { upToMicros } of listing.config.tiers) {
      for (const notional of [1, upToMicros - 1, upToMicros, upToMicros + 1, upToMicros * 3 + 7]) {
        expect(units.maintenance.of(notional)).toBe(maintenance.of(notional));
      }
    }
  }
});

test("liquidation price: none for a long whose margin covers its cost", () => {
  const units = unitsOf(BTC);
  const cost = 1_000 * 500_000;
  expect(liquidationTicks(units, { lots: 1_000, costMicros: cost, marginMicros: cost })).toBeNull();
});

test("an order above the maximum, or without a margin or price: no estimate", () => {
  const fixture = new Fixture(BTC);
  const intent: OrderIntent = {
    direction: 1,
    type: "market",
    marginMicros: 1e15,
    leverage: 2,
    priceTicks: 0,
    reduceOnly: false,
  };
  expect(fixture.preview(intent, NO_HOLDING)).toBeUndefined();
  expect(fixture.preview({ ...intent, marginMicros: 0 }, NO_HOLDING)).toBeUndefined();
  expect(
    fixture.preview({ ...intent, type: "limit", marginMicros: 1 }, NO_HOLDING),
  ).toBeUndefined();
});
