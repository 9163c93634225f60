/**
 * Maintenance and the liquidation watch against BigInt. fast-check prints seed and path.
 * PERPGATE_WATCHES=n sets how many markets the watch is tried on.
 */
import { MaintenanceSchedule, type MarginTier } from "@perpgate/protocol/maintenance";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { configFault, MAX_DEPOSITS_MICROS } from "../../config.js";
import { accountsDue } from "../../money/liquidate.js";
import { advanceWatches, refreshWatch } from "../../money/watch.js";
import { FIGURE_WORDS, Market } from "../../state/market.js";
import { OrderStore } from "../../state/orders.js";
import { Table, UndoLog } from "../../state/table.js";
import { BTC, venueConfig } from "../scenarios/listing.js";

const WATCHES = Number(process.env.PERPGATE_WATCHES ?? 3_000);

/** Tiers that `configFault` accepts: bounds and rates rise, leverage falls, charges are whole. */
const tiers: fc.Arbitrary<MarginTier[]> = fc
  .array(
    fc.record({
      span: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 200_000_000 })),
      rate: fc.integer({ min: 0, max: 200_000 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((rows) => {
    let upToMicros = 0;
    let maintenancePpm = 0;
    return rows.map(({ span, rate }) => {
      upToMicros += span * 1_000_000;
      maintenancePpm = Math.min(990_000, maintenancePpm + rate + 1);
      const maxLeverage = Math.max(1, Math.ceil(1_000_000 / maintenancePpm) - 1);
      return { upToMicros, maxLeverage, maintenancePpm };
    });
  });

function accepted(rows: readonly MarginTier[]): boolean {
  const config = venueConfig([{ ...BTC, config: { ...BTC.config, tiers: rows } }]);
  return configFault(config) === null;
}

/** Tier by tier, in millionths of a micro, rounded up once. */
function maintenanceOf(rows: readonly MarginTier[], notional: bigint): bigint {
  let lower = 0n;
  let sum = 0n;
  rows.forEach(({ upToMicros, maintenancePpm }, i) => {
    const upper = i === rows.length - 1 ? notional : BigInt(upToMicros);
    const part = (notional < upper ? notional : upper) - lower;
    if (part > 0n) sum += part * BigInt(maintenancePpm);
    lower = BigInt(upToMicros);
  });
  return (sum + 999_999n) / 1_000_000n;
}

const notionals = fc.oneof(
  fc.integer({ min: 0, max: 10_000_000 }),
  fc.integer({ min: 0, max: 9e14 }),
);

describe("MaintenanceSchedule", () => {
  test("of: the tiers' parts at their rates, rounded up once", () => {
    fc.assert(
      fc.property(tiers.filter(accepted), notionals, fc.nat(4), (rows, anywhere, i) => {
        const schedule = new MaintenanceSchedule(rows);
        const bound = rows[i % rows.length]!.upToMicros;
        for (const notional of [anywhere, bound - 1, bound, bound + 1]) {
          expect(BigInt(schedule.of(notional))).toBe(maintenanceOf(rows, BigInt(notional)));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("tierOf: the first tier that holds it, the last beyond all", () => {
    fc.assert(
      fc.property(tiers.filter(accepted), notionals, (rows, notional) => {
        const found = rows.find((tier) => notional <= tier.upToMicros) ?? rows.at(-1);
        expect(new MaintenanceSchedule(rows).tierOf(notional)).toBe(found);
      }),
    );
  });
});

interface Held {
  readonly lots: number;
  readonly costMicros: number;
  readonly marginMicros: number;
}

function marketWith(
  rows: readonly MarginTier[],
  unit: number,
  mark: number,
  positions: readonly Held[],
): Market {
  const undo = new UndoLog();
  const figures = new Table(FIGURE_WORDS, undo);
  figures.append();
  const config = { ...BTC.config, tiers: rows, microsPerTickLot: unit };
  const market = new Market(0, config, figures, new OrderStore(undo), undo);
  undo.begin();
  market.mark = mark;
  positions.forEach(({ lots, costMicros, marginMicros }, i) => {
    const row = market.positions.ensure(i + 1);
    market.positions.addLots(row, lots);
    market.positions.addCost(row, costMicros);
    market.positions.addMargin(row, marginMicros);
    refreshWatch(market, row);
  });
  return market;
}

/**
 * A position and a mark near which it falls due: margin and entry are drawn so that equity is a few
 * micros, or a few ticks, or far from maintenance at that mark.
 */
const cases = fc.record({
  rows: tiers.filter(accepted),
  unit: fc.constantFrom(1, 1, 7, 1_000),
  mark: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10_000_000 })),
  positions: fc.array(
    fc.record({
      size: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 100_000_000 })),
      side: fc.constantFrom(1, -1),
      entry: fc.double({ min: 0.1, max: 10, noNaN: true }),
      off: fc.oneof(
        fc.integer({ min: -3, max: 3 }),
        fc.integer({ min: -100_000, max: 100_000 }),
        fc.integer({ min: -1e12, max: 1e12 }),
      ),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

test("watch: no position that is due is ever missed, and none is liquidated that is not", () => {
  let due = 0;
  let healthy = 0;
  fc.assert(
    fc.property(cases, ({ rows, unit, mark, positions }) => {
      const held = positions.map(({ size, side, entry, off }): Held => {
        const lots = side * Math.max(1, Math.min(size, Math.floor(9e14 / (mark * unit))));
        const marked = lots * mark * unit;
        const cost = Math.round(marked * entry);
        const needed = Number(maintenanceOf(rows, BigInt(Math.abs(marked))));
        // equity − maintenance = off
        return { lots, costMicros: cost, marginMicros: needed + off - (marked - cost) };
      });
      // No margin exceeds all deposits.
      fc.pre(held.every(({ marginMicros }) => Math.abs(marginMicros) <= MAX_DEPOSITS_MICROS));
      const market = marketWith(rows, unit, mark, held);
      const expected = held.flatMap(({ lots, costMicros, marginMicros }, i) => {
        const marked = BigInt(lots) * BigInt(mark) * BigInt(unit);
        const equity = BigInt(marginMicros) + marked - BigInt(costMicros);
        const notional = marked < 0n ? -marked : marked;
        return equity <= maintenanceOf(rows, notional) ? [i + 1] : [];
      });
      due += expected.length;
      healthy += held.length - expected.length;
      expect(accountsDue(market)).toEqual(expected);
    }),
    { numRuns: WATCHES },
  );
  expect(Math.min(due, healthy)).toBeGreaterThan(1_000);
});

/** Funding per lot, in micros, at three moments: opening, refresh of the watch, search. */
const drifts = fc.record({
  settled: fc.integer({ min: -1e7, max: 1e7 }),
  watched: fc.integer({ min: -1e6, max: 1e6 }),
  searched: fc.integer({ min: -1e6, max: 1e6 }),
  billionths: fc.integer({ min: 0, max: 999_999_999 }),
  slices: fc.integer({ min: 0, max: 2 }),
});

test("watch: funding that accrues without touching a row hides no position that is due", () => {
  let due = 0;
  let healthy = 0;
  fc.assert(
    fc.property(cases, drifts, ({ rows, unit, mark, positions }, drift) => {
      const { settled, watched, searched, billionths, slices } = drift;
      const micros = settled + watched + searched;
      const held = positions.map(({ size, side, entry, off }): Held => {
        const lots = side * Math.max(1, Math.min(size, Math.floor(9e12 / (mark * unit + 1e7))));
        const marked = lots * mark * unit;
        const cost = Math.round(marked * entry);
        const needed = Number(maintenanceOf(rows, BigInt(Math.abs(marked))));
        const owed = lots * (watched + searched);
        return { lots, costMicros: cost, marginMicros: needed + owed + off - (marked - cost) };
      });
      fc.pre(held.every(({ marginMicros }) => Math.abs(marginMicros) <= MAX_DEPOSITS_MICROS));
      const market = marketWith(rows, unit, mark, held);
      // The base of the watches is 0; every position has settled at `settled`.
      for (let row = 0; row < held.length; row++) {
        market.positions.setSettledFunding(row, settled, 0);
      }
      market.setCumulativeFunding(settled + watched, 0);
      for (let row = 0; row < held.length; row++) refreshWatch(market, row);
      market.setCumulativeFunding(micros, billionths);
      for (let slice = 0; slice < slices; slice++) advanceWatches(market);
      const expected = held.flatMap(({ lots, costMicros, marginMicros }, i) => {
        const marked = BigInt(lots) * BigInt(mark) * BigInt(unit);
        const exact =
          BigInt(lots) * (BigInt(watched + searched) * 1_000_000_000n + BigInt(billionths));
        const up = exact > 0n && exact % 1_000_000_000n !== 0n ? 1n : 0n;
        const owed = exact / 1_000_000_000n + up;
        const equity = BigInt(marginMicros) + marked - BigInt(costMicros) - owed;
        const notional = marked < 0n ? -marked : marked;
        return equity <= maintenanceOf(rows, notional) ? [i + 1] : [];
      });
      due += expected.length;
      healthy += held.length - expected.length;
      expect(accountsDue(market)).toEqual(expected);
    }),
    { numRuns: WATCHES },
  );
  expect(Math.min(due, healthy)).toBeGreaterThan(1_000);
});
