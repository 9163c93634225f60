/**
 * Bounds of work: "A command meets at most 2,000 makers, canceled ones included; what is left of a
 * taker is canceled with reason fill_limit. A tick meets 2,000 in all; a liquidation that reaches
 * this stays due for the next tick and is not handed over." Orders that end with others are work, too.
 */
import { describe, expect, test, vi } from "vitest";
import { accountsDue } from "../../money/liquidate.js";
import { OrderStore } from "../../state/orders.js";
import type { Trader } from "../scenarios/trader.js";
import { LightVenue } from "./light-venue.js";

const MAKERS = 2_000;
const DOLLARS_PER_ORDER = 2;
const LOTS_PER_ORDER = 4;

function venueWithRoom(): LightVenue {
  return new LightVenue({ config: { maxOpenOrders: 10_000 } });
}

/** Resting orders of two dollars each. */
function rests(trader: Trader, side: 1 | -1, count: number, price: number): void {
  for (let i = 0; i < count; i++) {
    const margin = DOLLARS_PER_ORDER;
    const { status } = trader.places(side, "limit", { margin, leverage: 1, price });
    expect(status).toBe("resting");
  }
}

describe("a command meets at most 2,000 makers", () => {
  test("fills: the rest of the taker is canceled with fill_limit", () => {
    const venue = venueWithRoom();
    rests(venue.trader("maker", 100_000), -1, 2_500, 50_000);
    const taker = venue.trader("taker", 100_000);
    const answer = taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(MAKERS);
    expect([answer.status, answer.reason]).toEqual(["canceled", "fill_limit"]);
    expect(venue.market().asks.lotsAt(0)).toBe(500 * LOTS_PER_ORDER);
    // The next command goes on.
    taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(500);
  });

  test("a limit order that reaches the limit does not rest against the book", () => {
    const venue = venueWithRoom();
    rests(venue.trader("maker", 100_000), -1, 2_500, 50_000);
    const taker = venue.trader("taker", 100_000);
    const answer = taker.buys("limit", { margin: 20_000, leverage: 1, price: 50_000 });
    expect(venue.happened("Traded").length).toBe(MAKERS);
    expect([answer.status, answer.reason]).toEqual(["canceled", "fill_limit"]);
    expect(venue.best().bid).toBeNull();
  });

  test("own orders that are canceled count", () => {
    const venue = venueWithRoom();
    const taker = venue.trader("taker", 100_000);
    rests(taker, -1, 2_500, 50_000);
    const answer = taker.buys("market", { margin: 20_000, leverage: 1 });
    expect(venue.happened("Traded").length).toBe(0);
    expect(
      venue.happened("OrderEnded").filter((event) => event.orderId !== answer.orderId),
    ).toHaveLength(MAKERS);
    expect(answer.reason).toBe("fill_limit");
  });

  test("makers that may not open any more, and are canceled, count", () => {
    const venue = venueWithRoom();
    const holder = venue.trader("holder", 100_000);
    const rich = venue.trader("rich", 1_000_000);
    rich.sells("limit", { margin: 30_000, leverage: 1, price: 50_000 });
    holder.buys("market", { margin: 20_000, leverage: 1 });
    rests(venue.trader("maker", 100_000), 1, 2_500, 49_990);
    venue.cohort("closed");
    const answer = holder.sells("market", { margin: 20_000, leverage: 1, reduceOnly: true });
    expect(venue.happened("Traded").length).toBe(0);
    const ended = venue.happened("OrderEnded").filter((event) => event.orderId !== answer.orderId);
    expect(ended).toHaveLength(MAKERS);
    expect(answer.reason).toBe("fill_limit");
  });
});

/** Accounts that are long a thousandth of a coin, at 50×. */
function holders(venue: LightVenue, count: number): Trader[] {
  const rich = venue.trader("rich", 1_000_000);
  const ask = { size: 0.001 * count, leverage: 1, price: 50_000 };
  expect(rich.sells("limit", ask).status).toBe("resting");
  return Array.from({ length: count }, (_, i) => {
    const holder = venue.trader(`holder ${i}`, 10_000);
    expect(holder.buys("market", { size: 0.001, leverage: 50 }).status).toBe("filled");
    return holder;
  });
}

/** Stops far below the market. */
function protects(trader: Trader, count: number, reduceOnly: boolean): void {
  const stop = { size: 0.001, leverage: 1, price: 30_000, reduceOnly };
  for (let i = 0; i < count; i++) expect(trader.sells("stop", stop).status).toBe("pending");
}

describe("orders that end because others do", () => {
  test("two reduce-only orders that end with a maker's position count as a maker", () => {
    const venue = new LightVenue();
    for (const holder of holders(venue, 10)) {
      const exit = { size: 0.001, leverage: 1, price: 50_000, reduceOnly: true };
      expect(holder.sells("limit", exit).status).toBe("resting");
      protects(holder, 499, true);
    }
    const taker = venue.trader("taker", 100_000);
    const answer = taker.buys("market", { margin: 20_000, leverage: 1 });
    // A maker and 499 × 2: 1,002 of the 8,000 units each.
    expect(venue.happened("OrderEnded")).toHaveLength(8 * 500);
    expect([answer.filled, answer.reason]).toEqual([0.008, "fill_limit"]);
    // The next command goes on.
    expect(taker.buys("market", { margin: 20_000, leverage: 1 })).toMatchObject({
      filled: 0.002,
      reason: "book_empty",
    });
    expect(venue.happened("OrderEnded")).toHaveLength(2 * 500);
  });

  test("liquidations of accounts with 500 orders each: 8,000 units are the ends of 2,000 orders", () => {
    const venue = new LightVenue();
    const due = holders(venue, 20);
    for (const holder of due) protects(holder, 500, false);
    venue.index(49_400);
    const ended: number[] = [];
    while (due.some((holder) => holder.position().size > 0) && ended.length < 10) {
      venue.tick();
      ended.push(venue.happened("OrderEnded").length);
    }
    // The last of a tick is closed in the next one, or by its first unit.
    expect(ended).toEqual([2_000, 2_000, 2_000, 2_000, 2_000, 0]);
    expect(due.map((holder) => holder.openOrders())).toEqual(Array(20).fill(0));
  });

  test("liquidations in a market that is being made reduce-only: what ends with their orders counts", () => {
    const venue = new LightVenue();
    const due = holders(venue, 30);
    const entry = { size: 0.0001, leverage: 50, price: 48_000 };
    for (const holder of due) {
      for (let i = 0; i < 400; i++) expect(holder.buys("limit", entry).status).toBe("resting");
    }
    const { now: stampMs } = venue;
    const expiresAtMs = stampMs + 1_000;
    const control = {
      kind: "ControlMarket",
      market: 0,
      action: "reduceOnly",
      priceTicks: 0,
    } as const;
    venue.apply({ ...control, stampMs, expiresAtMs });
    venue.index(49_400);
    venue.tick();
    const canceled = venue.happened("OrderEnded").length;
    // What the control itself cancels in a tick is in it.
    expect(canceled).toBeGreaterThan(4_000);
    expect(canceled).toBeLessThan(8_000 + 400 + 1_024 + 400);
  });

  test("an order's end does not search the account's stops for orders that close the position", () => {
    const venue = new LightVenue();
    const [holder] = holders(venue, 1);
    protects(holder!, 498, false);
    holder!.sells("stop", { price: 40_000, closePosition: true });
    holder!.sells("stop", { price: 60_000, closePosition: true, takeProfit: true });
    expect(holder!.openOrders()).toBe(500);
    const steps = vi.spyOn(OrderStore.prototype, "next");
    const { session } = holder!;
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: -1 });
    const { length } = steps.mock.calls;
    steps.mockRestore();
    expect(venue.happened("OrderEnded")).toHaveLength(500);
    expect(length).toBeLessThan(4 * 500);
  });
});

const DAY_MS = 86_400_000;

/**
 * An account with 499 stops of a session that stays, and one of the last of its other sessions, all with
 * cancel-on-disconnect; these expire in a day.
 */
function holdsStops(venue: LightVenue, name: string, sessions: number): Trader {
  const trader = venue.trader(name, 10_000);
  trader.signsIn({ expiresAtMs: venue.now + 10 * DAY_MS });
  protects(trader, 499, false);
  const expiresAtMs = Math.floor(venue.now / DAY_MS + 1) * DAY_MS;
  for (let i = 0; i < sessions; i++) {
    const session = trader.signsIn({ expiresAtMs });
    const stampMs = venue.now;
    venue.apply({ kind: "SessionConnected", stampMs, session });
    venue.apply({ kind: "SetSessionOption", stampMs, session, cancelOnDisconnect: true });
  }
  protects(trader, 1, false);
  return trader;
}

/** How many orders the work looked at for their session, and how many ended. */
function looks(venue: LightVenue, work: () => void): [looked: number, ended: number] {
  const session = vi.spyOn(OrderStore.prototype, "session");
  work();
  const { length } = session.mock.calls;
  session.mockRestore();
  return [length, venue.happened("OrderEnded").length];
}

describe("sessions with cancel-on-disconnect that are lost together", () => {
  test.each([
    // Sixteen sessions and 500 orders of each account count.
    { version: 2, after: 4_096, first: 8, second: 4 },
    // A turn and its 500 orders.
    { version: 3, after: 16_384, first: 33, second: 4 },
  ])(
    "version $version: the end of a writer looks at each order of an account once, and begins none after $after",
    (row) => {
      const { version, first, second } = row;
      const venue = new LightVenue({ version });
      for (let i = 0; i < first + second; i++) holdsStops(venue, `holder ${i}`, 16);
      expect(looks(venue, () => venue.resumes(venue.now))).toEqual([first * 500, first]);
      venue.restarts();
      expect(looks(venue, () => venue.tick())).toEqual([second * 500, second]);
      expect(looks(venue, () => venue.tick())).toEqual([0, 0]);
    },
  );

  test("252 sessions of four accounts that expire together: no order is looked at twice", () => {
    const venue = new LightVenue();
    for (let i = 0; i < 4; i++) holdsStops(venue, `holder ${i}`, 63);
    venue.skipsTo(Math.floor(venue.now / DAY_MS + 1) * DAY_MS);
    expect(looks(venue, () => venue.tick())).toEqual([4 * 500, 4]);
    expect(venue.happened("SessionClosed")).toHaveLength(4 * 63);
    expect(looks(venue, () => venue.tick())).toEqual([0, 0]);
  });
});

/** Longs of $8,000 with a few dollars of equity, over many small bids. Half of one is due as well. */
function dueOver(bids: number, count = 1): { venue: LightVenue; longs: Trader[] } {
  const venue = venueWithRoom();
  const rich = venue.trader("rich", 10_000_000);
  rich.sells("limit", { margin: 100_000, leverage: 1, price: 50_000 });
  const longs = Array.from({ length: count }, (_, i) => {
    const long = venue.trader(`long ${i}`, 1_000);
    expect(long.buys("market", { margin: 160, leverage: 50 }).status).toBe("filled");
    return long;
  });
  venue.index(49_050);
  rests(venue.trader("maker", 100_000), 1, bids, 49_040);
  return { venue, longs };
}

describe("a tick meets 2,000 makers in all, less two for each turn", () => {
  test("a liquidation that reaches this stays due and is not handed over", () => {
    const { venue, longs } = dueOver(5_000);
    const sizes: number[] = [longs[0]!.position().size];
    while (accountsDue(venue.market()).length > 0) {
      venue.index(49_050);
      venue.tick();
      expect(venue.happened("Traded").length).toBeLessThanOrEqual(MAKERS);
      const kinds = new Set(venue.happened("Traded").map(({ tradeKind }) => tradeKind));
      expect([...kinds], "book only").toEqual([1]);
      expect(venue.backstop().size).toBe(0);
      sizes.push(longs[0]!.position().size);
    }
    // What each turn leaves has the margin of all: in the end it is enough.
    expect(sizes.map((size) => Math.round(size * 1e4))).toEqual([1_600, 805, 106]);
  });

  test("two liquidations share the 2,000", () => {
    const { venue, longs } = dueOver(9_000, 2);
    let ticks = 0;
    while (accountsDue(venue.market()).length > 0) {
      venue.index(49_050);
      venue.tick();
      ticks++;
      expect(venue.happened("Traded").length).toBeLessThanOrEqual(MAKERS);
      expect(venue.backstop().size).toBe(0);
    }
    expect(longs.map((long) => long.position().size)).toEqual([0, 0.01152]);
    expect(ticks).toBe(4);
  });
});
