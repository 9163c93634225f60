/** The shared order of deleveraging against a full sort, while positions change. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Side } from "../../commands.js";
import { Engine } from "../../engine.js";
import { DeleveragingOrder, deleveragingScore } from "../../money/deleveraging-order.js";
import { refreshWatch } from "../../money/watch.js";
import type { Market } from "../../state/market.js";
import { NONE } from "../../state/orders.js";
import type { VenueState } from "../../state/venue.js";
import { genesis } from "../commands.js";
import { BTC, venueConfig } from "../scenarios/listing.js";
import { START_MS } from "../scenarios/venue.js";

interface Held {
  readonly size: number;
  readonly side: 1 | -1;
  /** Entry as a part of the mark, in thousandths. */
  readonly entry: number;
  /** Margin as a part of the cost, in thousandths. */
  readonly margin: number;
}

const held: fc.Arbitrary<Held> = fc.record({
  size: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 1_000_000 })),
  side: fc.constantFrom(1, -1),
  entry: fc.oneof(fc.constantFrom(1, 990, 1_010), fc.integer({ min: 500, max: 1_500 })),
  margin: fc.oneof(fc.constantFrom(-20, 20), fc.integer({ min: -100, max: 1_000 })),
});

/** A venue with an index, within a command. */
function oneMarket(): { readonly s: VenueState; readonly market: Market } {
  const engine = new Engine();
  engine.apply(genesis(START_MS, venueConfig([BTC])));
  const index = { indexTicks: 500_000, slot: START_MS / 200 };
  engine.apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, ...index });
  const s = engine.state;
  s.undo.begin();
  return { s, market: s.markets[0]! };
}

function open(s: VenueState, market: Market, account: number, { side, ...terms }: Held): void {
  const row = market.positions.ensure(account);
  const cost = Math.round((terms.size * market.markUnit * terms.entry) / 1_000);
  market.positions.addLots(row, side * terms.size);
  s.addCost(market, row, side * cost);
  s.addMargin(market, row, Math.round((cost * terms.margin) / 1_000));
  refreshWatch(market, row);
}

/** Takes a part of a position's lots, cost and margin away. */
function reduce(s: VenueState, market: Market, row: number, part: number): void {
  const { positions } = market;
  positions.table.touch(row);
  const share = (figure: number): number => -Math.trunc(figure * part);
  const lots = share(positions.lots(row));
  s.addCost(market, row, share(positions.cost(row)));
  s.addMargin(market, row, share(positions.margin(row)));
  positions.addLots(row, lots);
}

function sorted(market: Market, side: Side): number[] {
  const { positions } = market;
  const rows: number[] = [];
  for (let row = 0; row < positions.table.rows; row++) {
    if (positions.lots(row) * side > 0) rows.push(row);
  }
  return rows.sort(
    (a, b) =>
      deleveragingScore(market, b) - deleveragingScore(market, a) ||
      positions.account(a) - positions.account(b),
  );
}

test("score: a bankrupt position of more than 90 million dollars has the greatest leverage", () => {
  const { s, market } = oneMarket();
  const size = Math.ceil(95_000_000e6 / market.markUnit);
  open(s, market, 1, { size, side: 1, entry: 999, margin: -2 });
  expect(deleveragingScore(market, 0)).toBe(1_001 * 100_000);
});

const rounds = fc.array(
  fc.record({
    walk: fc.integer({ min: 0, max: 30 }),
    /** Of each position that is met: 1 closes it, 0 passes it over. */
    part: fc.constantFrom(1, 1, 0.5, 0),
    /** Positions that change between two rounds. */
    others: fc.array(fc.tuple(fc.nat(), fc.constantFrom(1, 0.3, -0.5)), { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
);

test("order of deleveraging: as a full sort at the beginning of each liquidation", () => {
  let met = 0;
  fc.assert(
    fc.property(
      fc.array(held, { minLength: 1, maxLength: 40 }),
      fc.constantFrom<Side>(1, -1),
      fc.integer({ min: 1, max: 6 }),
      rounds,
      (positions, side, capacity, list) => {
        const { s, market } = oneMarket();
        positions.forEach((each, i) => {
          open(s, market, i + 1, each);
        });
        const order = new DeleveragingOrder(s, market, side, capacity);
        for (const { walk, part, others } of list) {
          const expected = sorted(market, side);
          order.begin();
          for (let place = 0; place < walk; place++) {
            const row = order.at(place);
            expect(row).toBe(expected[place] ?? NONE);
            if (row === NONE) break;
            met++;
            if (part > 0) reduce(s, market, row, part);
          }
          for (const [pick, share] of others) {
            reduce(s, market, pick % market.positions.table.rows, share);
          }
        }
      },
    ),
    { numRuns: 500 },
  );
  expect(met).toBeGreaterThan(2_000);
});
