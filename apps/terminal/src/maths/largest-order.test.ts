/** Places the largest order in an engine: it is filled as promised, and a larger one is not. */

import { BTC, type Listing, SOL } from "@perpgate/engine/testing";
import { mulDivCeil, PPM } from "@perpgate/protocol/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Fixture } from "../testing/engine-fixture.js";
import { type FundsContext, largestMargin } from "./largest-order.js";
import { type OrderIntent, previewOrder } from "./order-preview.js";
import type { Direction } from "./position-maths.js";

const FILLED = 0;

class FundedFixture extends Fixture {
  private restingLots = 0;
  private restingMicros = 0;

  /** Rests an order far from the market. */
  rests(direction: Direction, marginMicros: number, leverage: number): void {
    const { startPrice, ticksPerDollar } = this.listing;
    const priceTicks = Math.round(startPrice * ticksPerDollar * (1 + direction * -0.03));
    const intent: OrderIntent = {
      direction,
      type: "limit",
      marginMicros,
      leverage,
      priceTicks,
      reduceOnly: false,
    };
    const ack = this.place(intent);
    if (ack === undefined || ack.status === FILLED) return;
    const notional = ack.remainingLots * priceTicks * this.units.unit;
    this.restingLots += ack.remainingLots;
    this.restingMicros +=
      Math.ceil(notional / leverage) + mulDivCeil(notional, this.units.makerPpm, PPM);
  }

  funds(intent: OrderIntent, movePpm = 0): FundsContext {
    const { restingLots, restingMicros } = this;
    const walletMicros = Math.round(this.trader.wallet * 1e6);
    const context = this.context(intent, this.held());
    return { ...context, walletMicros, restingLots, restingMicros, movePpm };
  }
}

const direction = fc.constantFrom<Direction>(1, -1);
const account = fc.record({
  dollars: fc.integer({ min: 1, max: 20_000 }),
  direction,
  leverage: fc.integer({ min: 1, max: 50 }),
  /** An earlier market order; 0 for none. */
  earlier: fc.record({
    direction,
    share: fc.constantFrom(0, 0.1, 0.5),
    leverage: fc.integer({ min: 1, max: 20 }),
  }),
  /** Margin of a resting order, as a share of the wallet; 0 for none. */
  resting: fc.constantFrom(0, 0.05),
});
type Account = typeof account extends fc.Arbitrary<infer T> ? T : never;

function fixtureOf(listing: Listing, { dollars, earlier, resting, direction }: Account) {
  const fixture = new FundedFixture(listing, dollars);
  if (earlier.share > 0) {
    fixture.place({
      direction: earlier.direction,
      type: "market",
      marginMicros: Math.floor(dollars * earlier.share * 1e6),
      leverage: earlier.leverage,
      priceTicks: 0,
      reduceOnly: false,
    });
  }
  fixture.held();
  if (resting > 0) fixture.rests(direction, Math.floor(dollars * resting * 1e6), 10);
  return fixture;
}

describe.each([
  ["BTCUSD", BTC, 50],
  ["SOLUSD", SOL, 20],
])("largest order of %s against the engine", (_, listing, maxLeverage) => {
  test("market: fills completely, and a little more does not", () => {
    let [filled, refused] = [0, 0];
    fc.assert(
      fc.property(account, (drawn) => {
        const intentOf = (marginMicros: number): OrderIntent => ({
          direction: drawn.direction,
          type: "market",
          marginMicros,
          leverage: Math.min(drawn.leverage, maxLeverage),
          priceTicks: 0,
          reduceOnly: false,
        });
        const fixture = fixtureOf(listing, drawn);
        const context = fixture.funds(intentOf(0));
        const most = largestMargin(intentOf(0), context);
        const promised = previewOrder(intentOf(most), context);
        if (most === 0 || promised === undefined || promised.takingLots === 0) return;
        const ack = fixture.place(intentOf(most));
        expect(ack).toMatchObject({ status: FILLED, filledLots: promised.takingLots });
        filled++;

        const other = fixtureOf(listing, drawn);
        const more = Math.ceil(most * 1.01) + 1_000_000;
        const answer = other.place(intentOf(more));
        if (answer?.status !== FILLED) refused++;
        else expect(drawn.resting, "held back for resting orders").toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
    expect(filled).toBeGreaterThan(80);
    expect(refused).toBeGreaterThan(50);
  });

  test("limit: fills or rests completely", () => {
    let accepted = 0;
    const offsets = fc.integer({ min: -60, max: 60 });
    fc.assert(
      fc.property(account, offsets, (drawn, offset) => {
        const start = listing.startPrice * listing.ticksPerDollar;
        const intentOf = (marginMicros: number): OrderIntent => ({
          direction: drawn.direction,
          type: "limit",
          marginMicros,
          leverage: Math.min(drawn.leverage, maxLeverage),
          priceTicks: start + Math.round((start * offset) / 10_000),
          reduceOnly: false,
        });
        const fixture = fixtureOf(listing, drawn);
        const context = fixture.funds(intentOf(0));
        const most = largestMargin(intentOf(0), context);
        const promised = previewOrder(intentOf(most), context);
        if (promised === undefined || promised.takingLots + promised.waitingLots === 0) return;
        accepted++;
        expect(fixture.place(intentOf(most))).toMatchObject({
          filledLots: promised.takingLots,
          remainingLots: promised.waitingLots,
          reason: 0,
        });
      }),
      { numRuns: 150 },
    );
    expect(accepted).toBeGreaterThan(80);
  });

  test("a mark that moves before the order arrives: still fills completely", () => {
    const leverage = maxLeverage;
    const fixture = new FundedFixture(listing, 500);
    const intentOf = (marginMicros: number): OrderIntent => ({
      direction: 1,
      type: "market",
      marginMicros,
      leverage,
      priceTicks: 0,
      reduceOnly: false,
    });
    const most = largestMargin(intentOf(0), fixture.funds(intentOf(0), 300));
    expect(most).toBeGreaterThan(460e6);
    const later = new FundedFixture(listing, 500);
    later.venue.index(listing.startPrice * 0.9998);
    later.venue.tick();
    expect(later.venue.market().mark).toBeLessThan(fixture.venue.market().mark);
    expect(later.place(intentOf(most))).toMatchObject({ status: FILLED });
  });
});

test("reduce-only: all of the position", () => {
  const fixture = new FundedFixture(BTC, 10_000);
  const order = { type: "market", leverage: 5, priceTicks: 0 } as const;
  fixture.place({ ...order, direction: 1, marginMicros: 300e6, reduceOnly: false });
  const intent: OrderIntent = { ...order, direction: -1, marginMicros: 0, reduceOnly: true };
  const held = fixture.held();
  const marginMicros = largestMargin(intent, fixture.funds(intent, 300));
  expect(fixture.place({ ...intent, marginMicros })).toMatchObject({ filledLots: held.lots });
});
