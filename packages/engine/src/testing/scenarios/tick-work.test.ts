/** Stops, the limit of 256 liquidations and stops a command, and the order of work in a tick. */
import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import { ENGINE_VERSION } from "../../versions.js";
import { BTC, ETH } from "./listing.js";
import { Venue } from "./venue.js";

describe("stops", () => {
  test("refused if it would trigger immediately; pending, reserving nothing, otherwise", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    for (const price of [50_000, 49_000]) {
      const answer = alice.buys("stop", { margin: 100, price });
      expect(answer).toMatchObject({ reason: "stop_would_trigger", details: [500_000, 0] });
    }
    expect(alice.sells("stop", { margin: 100, price: 50_000 }).status).toBe("refused");
    expect(alice.buys("stop", { margin: 100, price: 50_000.1 }).status).toBe("pending");
    expect(alice.sells("stop", { margin: 100, price: 49_999.9 }).status).toBe("pending");
    expect([alice.reserved(), alice.wallet]).toEqual([0, 1_000]);
  });

  test("triggered when the mark reaches it, at a tick, then like a market order of its lots", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 100_000);
    const stop = alice.buys("stop", { margin: 5_100, price: 51_000 });
    bob.sells("limit", { margin: 20_000, leverage: 1, price: 51_200 });
    bob.sells("limit", { margin: 50_000, leverage: 1, price: 51_300 });
    venue.index(50_999.9);
    venue.tick();
    expect(venue.happened("StopTriggered")).toEqual([]);
    venue.index(51_000);
    expect(alice.openOrders()).toBe(1);
    venue.tick();
    expect(venue.happened("StopTriggered")).toMatchObject([{ orderId: stop.orderId }]);
    // One coin, kept from the placement, though it costs more than 51,000 by now.
    expect(alice.position().size).toBe(1);
    expect(venue.happened("OrderEnded").at(-1)).toMatchObject({ reason: 0, remainingLots: 0 });
  });

  const rows: [what: string, asks: number[], wallet: number, reason: string, filled: number][] = [
    ["an empty book", [], 10_000, "book_empty", 0],
    // The band is mark ± 5 %: 53,550.
    ["a level beyond the band", [51_200, 53_550.1], 20_000, "band", 1],
    // A coin at 51,200: 5,120 + 200 loss + 25.60.
    ["a wallet too small", [51_200], 2_672.8, "unfunded", 0.5],
  ];
  for (const [what, asks, wallet, reason, filled] of rows) {
    test(`${what}: ends with ${reason}`, () => {
      const venue = new Venue();
      const alice = venue.trader("alice", wallet);
      const bob = venue.trader("bob", 1_000_000);
      alice.buys("stop", { margin: 10_200, price: 51_000 });
      for (const price of asks) bob.sells("limit", { margin: price, leverage: 1, price });
      venue.index(51_000);
      venue.tick();
      const ended = venue.happened("OrderEnded").at(-1)!;
      expect(END_REASONS[ended.reason]).toBe(reason);
      expect(alice.position().size).toBe(filled);
      expect(ended.remainingLots / BTC.lotsPerCoin).toBe(2 - filled);
    });
  }
});

/** `size` accounts, each long 0.1 coins at 50× (due at 49,490), all bought from Bob. */
function crowd(size: number, version = ENGINE_VERSION) {
  const venue = new Venue({ version });
  const bob = venue.trader("bob", 10_000_000);
  bob.sells("limit", { margin: 5_000 * size, leverage: 1, price: 50_000 });
  const buy = (_: unknown, i: number) => {
    const trader = venue.trader(`long ${i}`, 110);
    trader.buys("limit", { margin: 100, leverage: 50, price: 50_000 });
    return trader;
  };
  const longs = venue.auditedOnce(() => Array.from({ length: size }, buy));
  return { venue, bob, longs };
}

describe("at most 256 liquidations and stops a command", () => {
  test("300 due with the same shortfall: 256 by account number, the rest in the next tick", () => {
    const { venue, longs } = crowd(300);
    venue.index(49_490);
    venue.tick();
    const first = venue.happened("Liquidated").map((event) => event.account);
    expect(first).toEqual(longs.slice(0, 256).map((trader) => trader.account));
    venue.tick();
    const second = venue.happened("Liquidated").map((event) => event.account);
    expect(second).toEqual(longs.slice(256).map((trader) => trader.account));
  });

  test("left for the next tick but no longer due: not liquidated", () => {
    const { venue, longs } = crowd(300);
    venue.index(49_490);
    venue.tick();
    venue.index(50_000);
    venue.tick();
    expect(venue.happened("Liquidated")).toEqual([]);
    expect(longs[299]!.position().size).toBe(0.1);
  });

  test("300 due: the largest shortfalls first, whatever the account numbers", () => {
    const { venue, bob } = crowd(300);
    const whale = venue.trader("whale", 21_000);
    bob.sells("limit", { margin: 1_000_000, leverage: 1, price: 50_000 });
    whale.buys("limit", { margin: 20_000, leverage: 50, price: 50_000 });
    venue.index(49_490);
    venue.tick();
    const accounts = venue.happened("Liquidated").map((event) => event.account);
    expect([accounts.length, accounts[0]]).toEqual([256, whale.account]);
  });

  test("a shortfall that grows meanwhile is served before those that waited longer", () => {
    const { venue, bob, longs } = crowd(300);
    const whale = venue.trader("whale", 30_000);
    bob.sells("limit", { margin: 1_000_000, leverage: 1, price: 50_000 });
    // Due at 49,000 only.
    whale.buys("limit", { margin: 30_000 * 0.9, leverage: 37, price: 50_000 });
    venue.index(49_490);
    venue.tick();
    expect(venue.happened("Liquidated").length).toBe(256);
    venue.index(49_100);
    venue.tick();
    const second = venue.happened("Liquidated").map((event) => event.account);
    expect(second.slice(0, 2)).toEqual([whale.account, longs[256]!.account]);
  });

  test("version 2: stops share the allowance, come after, and stay triggered when carried over", () => {
    const { venue, bob } = crowd(200, 2);
    const carol = venue.trader("carol", 1_000_000);
    bob.buys("limit", { margin: 100_000, leverage: 1, price: 48_000 });
    const ids = Array.from({ length: 100 }, () => {
      return carol.sells("stop", { margin: 500, leverage: 1, price: 49_800 }).orderId;
    });
    venue.index(49_490);
    venue.tick();
    expect(venue.happened("Liquidated").length).toBe(200);
    const triggered = (): number[] => venue.happened("StopTriggered").map((each) => each.orderId);
    expect(triggered()).toEqual(ids.slice(0, 56));
    // The mark is back above them: those that had triggered still act.
    venue.index(50_000);
    venue.tick();
    expect(triggered()).toEqual(ids.slice(56));
  });

  test("from version 3 on stops have an allowance of their own in each market", () => {
    const { venue, bob } = crowd(200);
    const carol = venue.trader("carol", 1_000_000);
    bob.buys("limit", { margin: 100_000, leverage: 1, price: 48_000 });
    const ids = Array.from({ length: 300 }, () => {
      return carol.sells("stop", { margin: 500, leverage: 1, price: 49_800 }).orderId;
    });
    venue.index(49_490);
    venue.tick();
    const triggered = (): number[] => venue.happened("StopTriggered").map((each) => each.orderId);
    expect(venue.happened("Liquidated").length).toBe(200);
    expect(triggered()).toEqual(ids.slice(0, 256));
    // The mark is back above them: those that were reached still act.
    venue.index(50_000);
    venue.tick();
    expect(triggered()).toEqual(ids.slice(256));
  });

  test("a carried stop canceled meanwhile does not come back", () => {
    const { venue, bob } = crowd(200, 2);
    const carol = venue.trader("carol", 1_000_000);
    bob.buys("limit", { margin: 100_000, leverage: 1, price: 48_000 });
    const ids = Array.from({ length: 60 }, () => {
      return carol.sells("stop", { margin: 500, leverage: 1, price: 49_800 }).orderId;
    });
    venue.index(49_490);
    venue.tick();
    expect(carol.cancels(ids[57]!)).toBeNull();
    venue.tick();
    expect(venue.happened("StopTriggered").map((event) => event.orderId)).toEqual([
      ids[56],
      ids[58],
      ids[59],
    ]);
  });
});

test("order within a tick: what is over, mark, funding, liquidations, positions, fund, seal", () => {
  const venue = new Venue({ markets: [BTC, ETH] });
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 1_000_000);
  for (const [market, price] of [
    [ETH, 4_000],
    [BTC, 50_000],
  ] as const) {
    bob.sells("limit", { margin: 50_000, leverage: 1, price, market });
    alice.buys("limit", { margin: 1_000, leverage: 50, price, market });
  }
  bob.sells("stop", { margin: 100, price: 49_600 });
  bob.sells("limit", { margin: 1_000, leverage: 1, price: 60_000 });
  const stampMs = venue.now;
  venue.apply({ kind: "CancelAfter", stampMs, session: bob.session, afterMs: 1_000 });
  venue.resumes(venue.now + 3_600_000);
  venue.index(3_950, ETH);
  venue.index(49_450, BTC);
  venue.tick();
  const seen = venue.events.map((event) => event.kind).filter((kind) => kind !== "Traded");
  expect(seen).toEqual([
    "CancelAfterFired",
    "OrderEnded",
    "OrderEnded",
    "FundingApplied",
    "FundingApplied",
    "Liquidated",
    "Liquidated",
    // Alice's, and Bob's in ETH: what the backstop has left for it is deleveraged.
    "PositionSettled",
    "PositionSettled",
    "PositionSettled",
    "PositionSettled",
    "BlockSealed",
  ]);
  // Each market its own, in listing order, though ETH is short of more.
  const markets = venue.happened("Liquidated").map((event) => event.market);
  expect(markets).toEqual([0, 1]);
});
