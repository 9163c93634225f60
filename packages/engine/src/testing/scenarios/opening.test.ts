/** What may open, judged at every fill of taker and maker; and how many makers one command meets. */

import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import { ENGINE_VERSION } from "../../versions.js";
import { BTC, ETH, type Listing } from "./listing.js";
import { Venue } from "./venue.js";

function pair(options: ConstructorParameters<typeof Venue>[0] = {}) {
  const venue = new Venue(options);
  return { venue, alice: venue.trader("alice", 1_000_000), bob: venue.trader("bob", 1_000_000) };
}

function reasons(venue: Venue): [account: number, reason: string][] {
  return venue
    .happened("OrderEnded")
    .map((event) => [event.account, END_REASONS[event.reason] ?? ""]);
}

describe("a resting order, when it fills", () => {
  test("its account has left the cohort: what would open is canceled, what closes fills", () => {
    const { venue, alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    // One coin closes, two would open.
    alice.sells("limit", { margin: 15_300, price: 51_000 });
    venue.cohort("allowlist", [bob.address]);
    const answer = bob.buys("market", { margin: 15_300 });
    expect(answer).toMatchObject({ filled: 1, reason: "book_empty" });
    expect(reasons(venue)).toEqual([[alice.account, "not_in_cohort"]]);
    expect(alice.position().size).toBe(0);
  });

  test("a stale index does not stop makers", () => {
    const { venue, alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    const carol = venue.trader("carol", 100_000);
    carol.buys("limit", { margin: 5_000, price: 50_000 });
    venue.resumes(venue.now + 20_000);
    expect(alice.sells("market", { margin: 5_000 })).toMatchObject({ filled: 1, status: "filled" });
    expect(carol.position().size).toBe(1);
  });

  test("the cap of its session holds after the session's end, over all markets", () => {
    const { venue, alice, bob } = pair({ markets: [BTC, ETH] });
    const free = alice.session;
    const session = alice.signsIn({ maxNotionalMicros: 60_000e6 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session });
    alice.session = free;
    // $20,000 by a session without a cap; 40,000 of the order's 50,000 are left.
    bob.sells("limit", { margin: 2_000, price: 4_000, market: ETH });
    alice.buys("market", { margin: 2_000, market: ETH });
    bob.sells("market", { margin: 5_000 });
    expect(reasons(venue)).toEqual([[alice.account, "session_notional_cap_exceeded"]]);
    expect(alice.position().size).toBe(0.8);
  });

  test("the mark has risen: tier leverage is that of the position after the fill", () => {
    const { venue, alice, bob } = pair();
    // $900,000 at 50×, and $100,000 more: both pass at a mark of 50,000.
    const bid = { leverage: 50, price: 50_000 };
    alice.buys("limit", { ...bid, margin: 18_000 });
    alice.buys("limit", { ...bid, margin: 2_000 });
    venue.index(52_000);
    bob.sells("market", { margin: 100_000 });
    // 1,000,000 ÷ 52,000 = 19.23076 coins.
    expect(alice.position().size).toBe(19.23076);
    expect(reasons(venue).at(-1)).toEqual([alice.account, "leverage_above_tier"]);
  });
});

describe("what is left of an order that turned the position", () => {
  test("own orders that would close the new position do not count as opened by it", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 50_000, price: 50_000 });
    alice.buys("market", { margin: 50_000 });
    alice.buys("limit", { margin: 20_000, price: 40_000 });
    bob.buys("limit", { margin: 75_000, price: 50_000 });
    // 30 coins: ten close, five open, fifteen rest; a short of twenty is the most at 50×.
    const answer = alice.sells("limit", { margin: 30_000, leverage: 50, price: 50_000 });
    expect(answer).toMatchObject({ filled: 15, status: "resting", remaining: 15, reason: "none" });
    expect(alice.position().size).toBe(-5);
  });
});

describe("open interest", () => {
  /** At most $100,000 of longs: two coins. Version 2, which lets a leverage of 10 open up to the bound. */
  const CAPPED: Listing = { ...BTC, config: { ...BTC.config, maxOpenInterestMicros: 100_000e6 } };

  function full() {
    const { venue, alice, bob } = pair({ markets: [CAPPED], version: 2 });
    bob.sells("limit", { margin: 7_500, price: 50_000 });
    alice.buys("market", { margin: 7_500 });
    return { venue, alice, bob };
  }

  test("lots that close on both sides make room for those that open in the same fill", () => {
    const { venue, alice, bob } = pair({ markets: [CAPPED] });
    bob.sells("limit", { size: 2, leverage: 1, price: 50_000 });
    alice.buys("limit", { size: 2, leverage: 1, price: 50_000 });
    // Two coins, the bound, are closed, and one and a half are opened the other way.
    bob.buys("limit", { size: 3.5, leverage: 1, price: 50_000 });
    alice.sells("limit", { size: 3.5, leverage: 1, price: 50_000 });
    expect(venue.happened("Traded").map(({ lots }) => lots)).toEqual([350_000]);
    expect(alice.position().size).toBe(-1.5);
  });

  test("lots that open on both sides fill up to the bound; the taker's rest is canceled", () => {
    const { venue, alice, bob } = full();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    const answer = alice.buys("market", { margin: 5_000 });
    expect(answer).toMatchObject({
      filled: 0.5,
      status: "canceled",
      reason: "open_interest_limit",
    });
    // The maker has done nothing wrong: it stays for those who close.
    expect(venue.best().ask).toEqual([50_000, 0.5]);
    expect(alice.buys("limit", { margin: 500, price: 50_000 }).reason).toBe("open_interest_limit");
  });

  test("lots that close for one side change hands, also above the bound", () => {
    const { venue, alice, bob } = full();
    bob.sells("limit", { margin: 2_500, price: 50_000 });
    alice.buys("market", { margin: 2_500 });
    venue.index(52_000);
    // Two coins are now worth $104,000.
    const carol = venue.trader("carol", 1_000_000);
    carol.buys("limit", { margin: 2_600, price: 52_000 });
    expect(alice.sells("market", { margin: 2_600 })).toMatchObject({ filled: 0.5 });
    expect(carol.position().size).toBe(0.5);
    const dave = venue.trader("dave", 1_000_000);
    dave.sells("limit", { margin: 2_600, price: 52_000 });
    expect(bob.buys("market", { margin: 2_600 })).toMatchObject({ filled: 0.5, status: "filled" });
    carol.buys("limit", { margin: 2_600, price: 52_000 });
    // Carol would open, and so would Dave.
    expect(dave.sells("market", { margin: 2_600 })).toMatchObject({
      filled: 0,
      reason: "open_interest_limit",
    });
  });

  test("lots that close on both sides make room", () => {
    const { alice, bob } = full();
    // Alice sells two coins to Bob: 1.5 close on both sides, half a coin opens on both.
    bob.buys("limit", { margin: 20_000, price: 50_000 });
    expect(alice.sells("market", { margin: 17_500 })).toMatchObject({
      filled: 3.5,
      reason: "none",
    });
    expect(alice.position().size).toBe(-2);
    expect(alice.sells("market", { margin: 500 }).reason).toBe("open_interest_limit");
  });
});

describe("smallest order", () => {
  const ONE_DOLLAR: Listing = { ...BTC, config: { ...BTC.config, minNotionalMicros: 1e6 } };

  test("below it: refused, naming it; at it: taken", () => {
    const { alice } = pair({ markets: [ONE_DOLLAR] });
    for (const [type, price] of [
      ["limit", 49_000],
      ["stop", 51_000],
      ["market", 0],
    ] as const) {
      const terms = { leverage: 3, price };
      const small = alice.buys(type, { ...terms, margin: 0.333333 });
      expect(small).toMatchObject({ reason: "notional_too_small", details: [1e6, 0] });
      expect(alice.buys(type, { ...terms, margin: 0.333334 }).status).not.toBe("refused");
    }
  });

  test("reductions may be smaller, reduce-only or not; what opens besides may not", () => {
    const { alice, bob } = pair({ markets: [ONE_DOLLAR] });
    bob.sells("limit", { margin: 0.2, price: 50_000 });
    alice.buys("limit", { margin: 0.2, price: 50_000 });
    expect(alice.position().size).toBe(0.00004);
    const lot = { margin: 0.051, price: 51_000 };
    expect(alice.sells("limit", lot).status).toBe("resting");
    expect(alice.sells("limit", { ...lot, reduceOnly: true }).status).toBe("resting");
    expect(alice.buys("limit", { ...lot, price: 49_000 }).reason).toBe("notional_too_small");
  });

  test("a market exit whose money buys more lots at a low bid than are held: taken", () => {
    const { alice, bob } = pair({ markets: [ONE_DOLLAR] });
    bob.sells("limit", { margin: 0.1, price: 50_000 });
    alice.buys("limit", { margin: 0.1, price: 50_000 });
    bob.buys("limit", { margin: 0.5, price: 48_000 });
    alice.sells("market", { margin: 0.05 });
    expect(alice.position().size).toBe(0.00001);
    // 0.98 dollars: one lot at the mark, two at the bid.
    expect(alice.sells("market", { margin: 0.098 }).status).toBe("filled");
  });
});

describe("2,000 makers a command", () => {
  /** One-lot bids at one price. */
  function bids(count: number, version = ENGINE_VERSION) {
    const venue = new Venue({ version, config: { maxOpenOrders: 5_000 } });
    const bob = venue.trader("bob", 1_000_000);
    const alice = venue.trader("alice", 1_000_000);
    for (let placed = 0; placed < count; placed++) {
      venue.engine.apply(bob.order(1, "limit", { margin: 0.5, leverage: 1, price: 49_900 }));
    }
    return { venue, alice };
  }

  test("exactly as many fill all of it", () => {
    const { alice } = bids(2_000);
    const answer = alice.sells("limit", { margin: 99.8, price: 49_900 });
    expect(answer).toMatchObject({ filled: 0.02, status: "filled" });
  });

  test("stops share the tick's, one after the other; those that meet its end go on in the next", () => {
    const { venue, alice } = bids(2_300);
    const stop = { margin: 150, price: 49_950 };
    alice.sells("stop", stop);
    alice.sells("stop", stop);
    venue.index(49_950);
    venue.tick();
    expect(venue.happened("OrderEnded").filter(({ account }) => account === alice.account)).toEqual(
      [],
    );
    expect(venue.happened("Traded").length).toBeGreaterThan(1_950);
    expect(alice.openOrders()).toBe(2);
    venue.restarts();
    venue.tick();
    expect(alice.openOrders()).toBe(0);
    expect(alice.position().size).toBe(-0.023);
  });

  test("version 2: stops share the tick's; one that could meet nobody waits for the next", () => {
    const { venue, alice } = bids(2_300, 2);
    const stop = { margin: 150, price: 49_950 };
    const first = alice.sells("stop", stop).orderId;
    const second = alice.sells("stop", stop).orderId;
    venue.index(49_950);
    venue.tick();
    const lots = (id: number) =>
      venue.happened("OrderEnded").filter((event) => event.orderId === id)[0];
    expect(END_REASONS[lots(first)!.reason]).toBe("fill_limit");
    expect(lots(second)).toBeUndefined();
    expect(alice.openOrders()).toBe(1);
    venue.tick();
    expect(END_REASONS[lots(second)!.reason]).toBe("book_empty");
    expect(alice.position().size).toBe(-0.023);
  });
});
