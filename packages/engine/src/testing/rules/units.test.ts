/**
 * Work units (version 3): "a maker met, filled, undone, canceled or expired is 4; every order that is
 * re-reserved, re-covered, listed or moved because of it is 1. A command has 8,000 … A fok that fails is
 * charged twice its units; the units of each command are an event … No list of an account's orders is
 * walked where only some of them matter."
 */
import { describe, expect, test, vi } from "vitest";
import { OrderStore } from "../../state/orders.js";
import type { Trader } from "../scenarios/trader.js";
import { LightVenue } from "./light-venue.js";

const EXITS = 498;
const LOT = 0.00001;
const LIMIT = 8_000;
/** A maker, whose exits are uncovered: what one turn takes here. */
const TURN = 4 + EXITS;

/** Accounts that are long as many lots as they have exits far away, and offer all of it at 50,000. */
function makers(venue: LightVenue, count: number): Trader[] {
  const all = longs(venue, count, EXITS * LOT);
  for (const maker of all) {
    for (let exit = 0; exit < EXITS; exit++) {
      maker.sells("limit", { size: LOT, leverage: 10, price: 55_000 });
    }
    const offer = { size: EXITS * LOT, leverage: 10, price: 50_000 };
    expect(maker.sells("limit", offer).status).toBe("resting");
    expect(maker.openOrders()).toBe(EXITS + 1);
  }
  return all;
}

function longs(venue: LightVenue, count: number, size: number): Trader[] {
  const rich = venue.trader("rich", 10_000_000);
  rich.sells("limit", { size: count * size, leverage: 1, price: 50_000 });
  return Array.from({ length: count }, (_, i) => {
    const long = venue.trader(`long ${i}`, 20_000);
    expect(long.buys("market", { size, leverage: 10 }).status).toBe("filled");
    return long;
  });
}

/** How often the cover of an order changes while the work is done. */
function recovered(work: () => void): number {
  const cover = vi.spyOn(OrderStore.prototype, "setClosing");
  work();
  const { length } = cover.mock.calls;
  cover.mockRestore();
  return length;
}

function cancelsAll(venue: LightVenue, { session }: Trader): void {
  venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: -1 });
}

function unitsOf(venue: LightVenue): number {
  return venue.happened("WorkDone").reduce((sum, { units }) => sum + units, 0);
}

describe("a fill that uncovers a maker's exits, in an order that is undone (issue 36, row 1)", () => {
  function killed(version: number): { readonly covers: number; readonly venue: LightVenue } {
    const venue = new LightVenue({ version });
    makers(venue, 30);
    const taker = venue.trader("taker", 1_000_000);
    const all = { size: 31 * EXITS * LOT, leverage: 10, price: 50_000 };
    const covers = recovered(() => {
      expect(taker.buys("limit", { ...all, timeInForce: "fok" }).status).toBe("canceled");
    });
    expect(venue.market().asks.lotsAt(0)).toBe(30 * EXITS);
    return { covers, venue };
  }

  test("before: re-reserves the exits of every maker, as many as there are", () => {
    const { covers, venue } = killed(2);
    expect(covers).toBe(30 * EXITS);
    expect(unitsOf(venue)).toBe(0);
  });

  test("after: stops once its units are used up, and is charged for them twice", () => {
    const { covers, venue } = killed(3);
    // A turn is finished: half of 8,000 are used up in the eighth.
    expect(covers).toBeLessThan(LIMIT / 2 + TURN);
    expect(unitsOf(venue)).toBe(2 * 8 * TURN);
  });

  test("after: one that fills pays once, and says so", () => {
    const venue = new LightVenue();
    makers(venue, 3);
    const taker = venue.trader("taker", 1_000_000);
    const all = { size: 3 * EXITS * LOT, leverage: 10, price: 50_000 };
    expect(taker.buys("limit", { ...all, timeInForce: "fok" }).status).toBe("filled");
    expect(venue.happened("WorkDone")).toEqual([
      { kind: "WorkDone", account: taker.account, units: 3 * TURN },
    ]);
  });
});

describe("a reduce-only order that goes idle (row 2)", () => {
  /** Flat accounts with 498 entries, each next to one reduce-only exit that ends with its maker's fill. */
  function exits(
    version: number,
    entries: number,
  ): { readonly steps: number; readonly lists: number } {
    const venue = new LightVenue({ version });
    for (const maker of longs(venue, 3, LOT * 10)) {
      for (let entry = 0; entry < entries; entry++) {
        maker.buys("limit", { size: LOT * 10, leverage: 10, price: 40_000 });
      }
      maker.sells("limit", { size: LOT * 10, leverage: 1, price: 50_000, reduceOnly: true });
      maker.sells("stop", { size: LOT * 10, leverage: 1, price: 30_000, reduceOnly: true });
    }
    const taker = venue.trader("taker", 1_000_000);
    const next = vi.spyOn(OrderStore.prototype, "next");
    const id = vi.spyOn(OrderStore.prototype, "id");
    taker.buys("limit", { size: LOT * 30, leverage: 10, price: 50_000 });
    const steps = next.mock.calls.length;
    const lists = id.mock.calls.length;
    next.mockRestore();
    id.mockRestore();
    // The exit that filled and the stop that it made idle.
    expect(venue.happened("OrderEnded")).toHaveLength(6);
    return { steps, lists };
  }

  test.each([2, 3])(
    "version %i: looks at it alone, however many others the account has",
    (version) => {
      const [few, many] = [exits(version, 2), exits(version, 400)];
      expect(many).toEqual(few);
    },
  );
});

describe("what commands report", () => {
  test("an ordinary command reports nothing, a cancel-all of many orders four units each", () => {
    const venue = new LightVenue();
    const trader = venue.trader("trader", 20_000);
    const rests = () => trader.buys("limit", { size: LOT * 10, leverage: 10, price: 40_000 });
    const cancels = () => {
      cancelsAll(venue, trader);
      return venue.happened("WorkDone").map(({ units }) => units);
    };
    for (let i = 0; i < 10; i++) rests();
    expect(unitsOf(venue)).toBe(0);
    expect(cancels()).toEqual([]);
    for (let i = 0; i < 11; i++) rests();
    expect(cancels()).toEqual([44]);
  });

  test("a refused amendment reports the orders that it would have moved", () => {
    const venue = new LightVenue();
    const [maker] = makers(venue, 1);
    const { account } = maker!;
    cancelsAll(venue, maker!);
    // The first covers the whole position, 100 others wait behind it.
    const first = maker!.sells("limit", { size: EXITS * LOT, leverage: 10, price: 54_000 });
    for (let i = 0; i < 100; i++) maker!.sells("limit", { size: LOT, leverage: 10, price: 55_000 });
    maker!.amends(first.orderId, { price: 54_001, size: 5 });
    expect(venue.refusal).toBe("insufficient_margin");
    expect(venue.happened("WorkDone")).toEqual([{ kind: "WorkDone", account, units: 100 }]);
  });
});
