/** What a fill costs, what an order keeps in reserve, and who can no longer pay. */
import { describe, expect, test } from "vitest";
import { LIMIT_ORDER, MARKET_ORDER, type PlaceOrder, SHORT } from "../../commands.js";
import { STATUS_RESTING, type VenueEvent } from "../../events/event-table.js";
import { END, END_REASONS } from "../../reasons.js";
import { addressOf, genesis, openSession, plainOrder } from "../commands.js";
import { comparedEngine } from "../compared.js";
import { BTC, MAJOR, plainMarket, SMALL_TIERS, venueConfig } from "./listing.js";
import { START_MS, Venue } from "./venue.js";

function pair(alice = 100_000, bob = 1_000_000) {
  const venue = new Venue();
  return { venue, alice: venue.trader("alice", alice), bob: venue.trader("bob", bob) };
}

describe("opening", () => {
  test("at the mark: margin, nothing for a loss, taker 0.05 %, maker 0.02 %", () => {
    const { venue, alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    expect(alice.buys("market", { margin: 5_000 })).toMatchObject({ filled: 1, fee: 25 });
    expect(alice.position()).toEqual({ size: 1, cost: 50_000, margin: 5_000 });
    expect(bob.position()).toEqual({ size: -1, cost: -50_000, margin: 5_000 });
    expect(alice.wallet).toBe(94_975);
    expect(bob.wallet).toBe(994_990);
    expect(venue.fees).toBe(35);
  });

  test("above the mark: the buyer's loss against it moves into margin, the seller's gain does not", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 5_200, price: 52_000 });
    alice.buys("market", { margin: 5_200 });
    // Alice: 5,200 margin + 2,000 loss, fee 26; Bob: 5,200, fee 10.40.
    expect(alice.position().margin).toBe(7_200);
    expect(bob.position().margin).toBe(5_200);
    expect([alice.wallet, bob.wallet]).toEqual([92_774, 994_789.6]);
  });

  test("below the mark: it is the seller who has the loss", () => {
    const { alice, bob } = pair();
    bob.buys("limit", { margin: 4_800, price: 48_000 });
    alice.sells("market", { margin: 4_800 });
    expect(alice.position().margin).toBe(6_800);
    expect(bob.position().margin).toBe(4_800);
  });

  test("margins and fees round up to a micro, each part on its own", () => {
    const { alice, bob } = pair();
    // One lot at 50,000.1: $0.500001; a third of it, and 0.05 % and 0.02 % of it.
    bob.sells("limit", { margin: 0.2, leverage: 3, price: 50_000.1 });
    alice.buys("limit", { margin: 0.2, leverage: 3, price: 50_000.1 });
    expect(alice.position()).toEqual({ size: 0.00001, cost: 0.500001, margin: 0.166668 });
    expect(bob.position().margin).toBe(0.166667);
    // 100,000 − 0.166668 − 0.000251; the loss of one tick is in the 0.166668.
    expect(alice.wallet).toBe(99_999.833081);
    expect(bob.wallet).toBe(999_999.833232);
  });
});

describe("insufficient margin", () => {
  const rows: [wallet: number, leverage: number, largest: number][] = [
    // m + 0.05 % × m × leverage ≤ wallet
    [1_005, 10, 1_000],
    [1_000, 10, 995.024875],
    [1_000, 50, 975.609756],
    [1_000, 1, 999.500249],
  ];
  for (const [wallet, leverage, largest] of rows) {
    test(`$${wallet} at ${leverage}×: the largest margin named, $${largest}, passes`, () => {
      const { alice } = pair(wallet);
      const terms = { leverage, price: 49_000 };
      const refused = alice.buys("limit", { ...terms, margin: largest + 0.000001 });
      expect(refused).toMatchObject({ status: "refused", reason: "insufficient_margin" });
      expect(refused.details[0] / 1e6).toBe(largest);
      expect(alice.buys("limit", { ...terms, margin: largest }).status).toBe("resting");
    });
  }

  test("an empty wallet: names 0; a stop needs nothing", () => {
    const { alice } = pair(0);
    const refused = alice.buys("market", { margin: 1 });
    expect(refused).toMatchObject({ reason: "insufficient_margin", details: [0, 0] });
    expect(alice.buys("stop", { margin: 1_000, price: 51_000 }).status).toBe("pending");
    expect(alice.reserved()).toBe(0);
  });

  test("an order with a closing part needs no margin, whatever its size", () => {
    const { alice, bob } = pair(1_005);
    bob.sells("limit", { margin: 1_000, price: 50_000 });
    alice.buys("market", { margin: 1_000 });
    expect(alice.wallet).toBe(0);
    expect(alice.sells("limit", { margin: 1_000, price: 50_000 }).status).toBe("resting");
  });
});

describe("reserves", () => {
  test("a resting order reserves margin and maker fee, and gives them back", () => {
    const { alice } = pair();
    const order = alice.buys("limit", { margin: 4_900, price: 49_000 });
    expect([alice.reserved(), alice.wallet]).toEqual([4_909.8, 95_090.2]);
    alice.cancels(order.orderId);
    expect([alice.reserved(), alice.wallet]).toEqual([0, 100_000]);
  });

  test("two resting closes against one position: the first covers, the second reserves", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    const first = alice.sells("limit", { margin: 5_100, price: 51_000 });
    expect(alice.reserved()).toBe(0);
    const second = alice.sells("limit", { margin: 5_200, price: 52_000 });
    // The second opens a short coin at 52,000: 5,200 + 10.40.
    expect(alice.reserved()).toBe(5_210.4);
    alice.cancels(first.orderId);
    expect(alice.reserved()).toBe(0);
    expect(alice.openOrders()).toBe(1);
    expect(second.status).toBe("resting");
  });

  test("both fill: the first closes, the second opens the other way", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    alice.sells("limit", { margin: 5_100, price: 51_000 });
    alice.sells("limit", { margin: 5_200, price: 52_000 });
    bob.buys("market", { margin: 20_000, leverage: 10 });
    expect(alice.position()).toEqual({ size: -1, cost: -52_000, margin: 5_200 });
    expect(alice.realized()).toBe(1_000);
  });

  test("a position that shrinks uncovers orders; those the wallet cannot fund go, newest first", () => {
    const { venue, alice, bob } = pair(5_100);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    // Two asks of half a coin, both covered by the position; $75 are left.
    const older = alice.sells("limit", { margin: 2_550, price: 51_000 });
    const newer = alice.sells("limit", { margin: 2_600, price: 52_000 });
    expect([older.remaining, newer.remaining, alice.wallet]).toEqual([0.5, 0.5, 75]);
    // Alice sells 0.9 coins: 4,500 come back, 0.1 coins still cover the older order.
    bob.buys("limit", { margin: 4_410, price: 49_000 });
    alice.sells("market", { margin: 4_410 });
    const ended = venue.happened("OrderEnded").filter((event) => event.account === alice.account);
    expect(ended.map((event) => [event.orderId, END_REASONS[event.reason]])).toEqual([
      [newer.orderId, "unfunded"],
    ]);
    // 0.4 uncovered coins at 51,000: 2,040 + 4.08.
    expect(alice.reserved()).toBe(2_044.08);
  });
});

describe("a maker who can no longer pay", () => {
  test("fills what it can fund with equity above maintenance; the rest of its order is canceled", () => {
    const { venue, alice, bob } = pair(1_025);
    // Alice's bid is at the touch when the mark drops under it: the loss against mark is hers.
    const bid = alice.buys("limit", { margin: 1_000, leverage: 50, price: 49_500 });
    expect(bid.remaining).toBe(1.0101);
    venue.index(49_000);
    const answer = bob.sells("limit", { margin: 9_900, leverage: 5, price: 49_500 });
    // A coin needs 990 margin + 500 loss + 9.90 fee: $1,025 fund 0.68337 coins.
    expect(answer).toMatchObject({ filled: 0.68337, status: "resting", remaining: 0.31663 });
    const ended = venue.happened("OrderEnded")[0]!;
    expect(END_REASONS[ended.reason]).toBe("unfunded");
    expect(ended.remainingLots / BTC.lotsPerCoin).toBe(0.32673);
    // 0.68337 × 1,499.90 = 1,024.986663
    expect(alice.wallet).toBe(0.013337);
    expect(venue.best().bid).toBeNull();
  });

  test("cannot fill a single lot: its order goes and the taker meets the next maker", () => {
    const { venue, alice, bob } = pair(0.6);
    const carol = venue.trader("carol", 10_000);
    alice.buys("limit", { margin: 0.5, leverage: 1, price: 49_500 });
    carol.buys("limit", { margin: 99, leverage: 1, price: 49_400 });
    // A lot needs $0.495 margin, $0.40 for the loss against the new mark, and the fee.
    venue.resumes(venue.now + 11_000);
    venue.index(9_500);
    bob.sells("limit", { margin: 99, leverage: 1, price: 49_400 });
    const makers = venue.happened("Traded").map((event) => event.makerAccount);
    expect(makers).toEqual([carol.account]);
    const ended = venue.happened("OrderEnded")[0]!;
    expect([ended.account, END_REASONS[ended.reason]]).toEqual([alice.account, "unfunded"]);
    expect(alice.wallet).toBe(0.6);
  });

  test("is asked again when the taker can fill fewer lots: they round differently", () => {
    const { engine, apply } = comparedEngine();
    const credit = { attestorKind: "dev", devCreditMicros: 300 } as const;
    apply(genesis(START_MS, venueConfig([{ config: plainMarket("TESTUSD", MAJOR) }], credit)));
    const index = (indexTicks: number, slot: number): void => {
      apply({ kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks, slot });
    };
    const signIn = (): number => {
      apply(openSession({ stampMs: START_MS, address: addressOf(engine.seq) }));
      return engine.seq;
    };
    const order = (session: number, terms: Partial<PlaceOrder>): VenueEvent[] => {
      const sender = { stampMs: START_MS, session, nonce: engine.seq };
      return apply(plainOrder({ ...sender, type: LIMIT_ORDER, ...terms }));
    };
    const [alice, bob, carol] = [signIn(), signIn(), signIn()];
    index(100, START_MS / 200);
    order(bob, { side: SHORT, marginMicros: 150, leverage: 2, priceTicks: 100 });
    // Three lots, margin ⌈300 ÷ 45⌉ = 7.
    order(alice, { type: MARKET_ORDER, marginMicros: 7, leverage: 45 });
    order(alice, { side: SHORT, marginMicros: 294, priceTicks: 98, reduceOnly: true });
    index(95, START_MS / 200 + 1);
    // All three at 98: released 7, PnL −6, fee 1, just enough. But Carol's 294 + loss 9 + fee 1 are
    // more than 300: she can fill two, and of two lots Alice has ⌊14 ÷ 3⌋ − 4 < 1.
    const placed = order(carol, { marginMicros: 294, priceTicks: 98 });
    expect(placed.filter((event) => event.kind === "Traded")).toEqual([]);
    const ended = { kind: "OrderEnded", reason: END.bankruptcy, remainingLots: 3 };
    const rests = { kind: "OrderAcknowledged", status: STATUS_RESTING };
    expect(placed).toContainEqual(expect.objectContaining(ended));
    expect(placed).toContainEqual(expect.objectContaining(rests));
  });
});

describe("closing", () => {
  test("a loss comes out of the released margin; nobody sells below bankruptcy", () => {
    const { venue, alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, leverage: 25, price: 50_000 });
    alice.buys("limit", { margin: 5_000, leverage: 25, price: 50_000 });
    // 2.5 coins, margin 5,000: bankrupt at 48,000; with the fee of 24.1 a coin at 48,024.1.
    bob.buys("limit", { margin: 50_000, price: 48_000 });
    const answer = alice.sells("market", { margin: 50_000, reduceOnly: true });
    expect(answer).toMatchObject({ status: "canceled", reason: "bankruptcy", filled: 0 });
    bob.buys("limit", { margin: 5_000, price: 48_024.1 });
    const enough = alice.sells("market", { margin: 50_000, reduceOnly: true });
    expect(enough.filled).toBeGreaterThan(1);
    expect(venue.happened("Traded")[0]!.priceTicks).toBe(480_241);
  });

  test("half of it: half of the margin, half of the cost", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("market", { margin: 5_000 });
    bob.buys("limit", { margin: 5_100, price: 51_000 });
    alice.sells("limit", { margin: 2_550, price: 51_000 });
    expect(alice.position()).toEqual({ size: 0.5, cost: 25_000, margin: 2_500 });
    // 94,975 + 2,500 + 500 − 12.75
    expect(alice.wallet).toBe(97_962.25);
  });

  test("a flip: first the closing part, then the opening part, a fee rounded up on each", () => {
    const { alice, bob } = pair();
    bob.sells("limit", { margin: 0.2, leverage: 3, price: 50_000 });
    alice.buys("limit", { margin: 0.2, leverage: 3, price: 50_000 });
    bob.buys("limit", { margin: 0.4, leverage: 3, price: 50_000.1 });
    // A lot closes and a lot opens, each for $0.500001: two fees of ⌈0.0002500005⌉.
    const flip = alice.sells("limit", { margin: 0.4, leverage: 3, price: 50_000.1 });
    expect(flip).toMatchObject({ filled: 0.00002, fee: 0.000502 });
    expect(alice.position()).toEqual({ size: -0.00001, cost: -0.500001, margin: 0.166667 });
    expect(alice.realized()).toBe(0.000001);
  });

  test("thirds do not divide: margin out rounds down, cost out rounds against the trader", () => {
    const venue = new Venue({ markets: [SMALL_TIERS] });
    const alice = venue.trader("alice", 1_000);
    const bob = venue.trader("bob", 1_000);
    // Three lots: two at 50,000 and one at 50,000.1, cost $1.500001, margin 0.2 + 0.2 … at 5×.
    bob.sells("limit", { margin: 0.2, leverage: 5, price: 50_000 });
    alice.buys("limit", { margin: 0.2, leverage: 5, price: 50_000 });
    bob.sells("limit", { margin: 0.11, leverage: 5, price: 50_000.1 });
    alice.buys("limit", { margin: 0.11, leverage: 5, price: 50_000.1 });
    // 0.2 + ⌈0.1000002⌉ + 0.000001 loss against mark
    expect(alice.position()).toEqual({ size: 0.00003, cost: 1.500001, margin: 0.300002 });
    expect(bob.position()).toEqual({ size: -0.00003, cost: -1.500001, margin: 0.300001 });
    bob.buys("limit", { margin: 0.11, leverage: 5, price: 50_000 });
    alice.sells("limit", { margin: 0.11, leverage: 5, price: 50_000 });
    // Long: ⌈1.500001 ÷ 3⌉ = 0.500001 leaves; short: ⌊1.500001 ÷ 3⌋ = 0.5; margin ⌊0.300002 ÷ 3⌋.
    expect(alice.position()).toEqual({ size: 0.00002, cost: 1, margin: 0.200002 });
    expect(bob.position()).toEqual({ size: -0.00002, cost: -1.000001, margin: 0.200001 });
    expect([alice.realized(), bob.realized()]).toEqual([-0.000001, 0]);
  });
});
