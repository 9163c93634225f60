/** Auto-deleveraging and losses that no account can cover. The backstop's cap is 0 here. */
import { describe, expect, test } from "vitest";
import { Engine } from "../../engine.js";
import { END_REASONS } from "../../reasons.js";
import { RULE_SETS } from "../../versions.js";
import { unitsOf } from "../work/limits.js";
import { DUST } from "./listing.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const NO_BACKSTOP = { config: { backstopCapMicros: 0 } };
const BY_RANK = { ...NO_BACKSTOP, version: 2 };

function deleveraged(venue: Venue): [account: number, lots: number][] {
  return venue
    .happened("Traded")
    .filter((event) => event.tradeKind === 3)
    .map((event) => [event.makerAccount, event.lots]);
}

describe("version 2: who is closed first", () => {
  /**
   * Alice is long three coins at 50×. Shorts, at a mark of 49,480:
   *   Bea  at 50,000, 10×: profit 1.04 % × leverage 8.96 → 10,400 × 896 =  9,318,400
   *   Cid  at 50,000, 50×: profit 1.04 % × 32.55         → 10,400 × 3,255 = 33,852,000
   *   Dot  at 51,000, 10×: profit 2.98 % × 7.47          → 29,803 × 747 = 22,262,841
   *   Eve  at 50,000,  2×: profit 1.04 % × 1.93 (short from Fay, who stays healthy)
   */
  function ranked() {
    const venue = new Venue(BY_RANK);
    const alice = venue.trader("alice", 5_000);
    const shorts = ["bea", "cid", "dot", "eve"].map((name) => venue.trader(name, 100_000));
    const [bea, cid, dot, eve] = shorts as [(typeof shorts)[0], ...typeof shorts];
    const fay = venue.trader("fay", 100_000);
    bea!.sells("limit", { margin: 5_000, leverage: 10, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    cid!.sells("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    dot!.sells("limit", { margin: 5_100, leverage: 10, price: 51_000 });
    alice.buys("limit", { margin: 1_020, leverage: 50, price: 51_000 });
    eve!.sells("limit", { margin: 25_000, leverage: 2, price: 50_000 });
    fay.buys("limit", { margin: 25_000, leverage: 2, price: 50_000 });
    return { venue, alice, bea: bea!, cid: cid!, dot: dot!, eve: eve! };
  }

  test("the highest profit × leverage, at bankruptcy price, without fee", () => {
    const { venue, alice, bea, cid, dot, eve } = ranked();
    const before = cid.wallet;
    // Margin 4,020 for 151,000: bankrupt at 48,993.33… → 48,993.4, due below 49,488.2.
    expect(alice.position()).toEqual({ size: 3, cost: 151_000, margin: 4_020 });
    venue.index(49_480);
    const fees = venue.fees;
    venue.tick();
    const coin = 100_000;
    expect(deleveraged(venue)).toEqual([
      [cid.account, coin],
      [dot.account, coin],
      [bea.account, coin],
    ]);
    expect(cid.wallet).toBe(before + 1_000 + 1_006.6);
    expect(eve.position().size).toBe(-1);
    expect(venue.fees).toBe(fees);
    // Three coins × the rounding of 0.0666… to the tick: 20 cents of dust.
    expect(venue.fund).toBe(1_000_000.2);
  });

  test("its orders follow the position: reduce-only goes, covered lots reserve again", () => {
    const { venue, bea, cid } = ranked();
    const take = cid.buys("limit", { margin: 90_000, price: 48_000, reduceOnly: true });
    const cover = bea.buys("limit", { margin: 4_800, price: 48_000 });
    expect(bea.reserved()).toBe(0);
    venue.index(49_480);
    venue.tick();
    const ended = venue.happened("OrderEnded");
    expect(ended.map((event) => [event.orderId, END_REASONS[event.reason]])).toEqual([
      [take.orderId, "reduce_only"],
    ]);
    expect(cover.status).toBe("resting");
    expect(bea.reserved()).toBe(4_809.6);
  });

  test("equal scores: the lower account number", () => {
    const venue = new Venue(BY_RANK);
    const alice = venue.trader("alice", 5_000);
    const twins = [venue.trader("bea", 10_000), venue.trader("cid", 10_000)];
    // The younger account trades first: the number decides, not the order of trading.
    for (const twin of [...twins].reverse()) {
      twin.sells("limit", { margin: 5_000, price: 50_000 });
    }
    alice.buys("limit", { margin: 2_000, leverage: 50, price: 50_000 });
    venue.index(49_490);
    venue.tick();
    expect(deleveraged(venue).map(([account]) => account)).toEqual(
      twins.map((twin) => twin.account),
    );
  });
});

describe("version 3: winners in proportion to their profit", () => {
  /** Alice is long `coins` at 50×; each of the shorts has sold at that price, at 5×. */
  function shorts(coins: number, ...sold: readonly [coins: number, price: number][]) {
    const venue = new Venue(NO_BACKSTOP);
    const calm = venue.trader("calm", 10_000_000);
    const alice = venue.trader("alice", 100_000);
    const sell = ([size, price]: readonly [number, number], i: number) => {
      const short = venue.trader(`short ${i}`, 1_000_000);
      short.sells("limit", { size, leverage: 5, price });
      calm.buys("limit", { size, leverage: 1, price });
      return short;
    };
    const others = venue.auditedOnce(() => sold.map(sell));
    calm.sells("limit", { size: coins, leverage: 1, price: 50_000 });
    alice.buys("limit", { size: coins, leverage: 50, price: 50_000 });
    return { venue, alice, others };
  }

  test("profits of 1,020, 510 and 1,510: whole parts, then a lot for the largest remainder", () => {
    const { venue, alice, others } = shorts(1, [2, 50_000], [1, 50_000], [1, 51_000]);
    venue.index(49_490);
    venue.tick();
    expect(alice.position().size).toBe(0);
    // Of 100,000 lots: 33,552.6, 16,776.3 and 49,671.1.
    const accounts = others.map(({ account }) => account);
    expect(deleveraged(venue)).toEqual([
      [accounts[0], 33_553],
      [accounts[1], 16_776],
      [accounts[2], 49_671],
    ]);
    // At Alice's bankruptcy price, which is better for them than the mark.
    expect(venue.happened("Traded")[0]!.priceTicks).toBe(490_000);
  });

  test("whom the price has not gained anything is left alone while winners have lots", () => {
    const { venue, others } = shorts(1, [1, 50_000], [1, 49_000], [0.5, 50_000]);
    venue.index(49_490);
    venue.tick();
    const [first, loses, second] = others.map(({ account }) => account);
    expect(deleveraged(venue)).toEqual([
      [first, 66_667],
      [second, 33_333],
    ]);
    expect(deleveraged(venue).some(([account]) => account === loses)).toBe(false);
  });

  test("winners without enough lots give all; the others share the rest by their lots", () => {
    const { venue, others } = shorts(2, [0.5, 50_000], [2, 49_000], [1, 49_000]);
    venue.index(49_490);
    venue.tick();
    const [winner, two, one] = others.map(({ account }) => account);
    expect(deleveraged(venue)).toEqual([
      [winner, 50_000],
      [two, 100_000],
      [one, 50_000],
    ]);
  });

  test("more than 500 winners: 500 parts, in proportion on average", () => {
    const sizes = Array.from(
      { length: 600 },
      (_, i) => [i % 2 === 0 ? 0.01 : 0.03, 50_000] as const,
    );
    const { venue, alice, others } = shorts(
      5,
      ...sizes.map(([size, price]): [number, number] => [size, price]),
    );
    venue.index(49_490);
    venue.tick();
    expect(alice.position().size).toBe(0);
    const given = new Map<number, number>();
    for (const [account, lots] of deleveraged(venue)) {
      given.set(account, (given.get(account) ?? 0) + lots);
    }
    const sum = (odd: number) =>
      others.reduce(
        (all, { account }, i) => all + (i % 2 === odd ? (given.get(account) ?? 0) : 0),
        0,
      );
    // A quarter of the profit is with the small ones: within ten parts of 1,000 lots, a quarter of the lots.
    expect(sum(0) + sum(1)).toBe(500_000);
    expect(Math.abs(sum(0) - 125_000)).toBeLessThanOrEqual(10_000);
  });
});

describe("beyond bankruptcy", () => {
  /**
   * Alice buys a coin from Carol at 60,000 (bankrupt at 58,800); the index drops to 50,000 and
   * before any tick Carol takes her profit from Bob, who sells short at 50,000.
   */
  function gap(bobsLeverage: number, seed = 1_000_000) {
    const config = { backstopCapMicros: 0, fundSeedMicros: seed * 1e6 };
    // So small a fund would bar Bob from his leverage in later versions.
    const venue = new Venue({ config, version: seed < 10_000 ? 2 : 3 });
    const alice = venue.trader("alice", 1_230);
    const bob = venue.trader("bob", 60_000);
    const carol = venue.trader("carol", 100_000);
    venue.index(60_000);
    carol.sells("limit", { margin: 6_000, price: 60_000 });
    alice.buys("limit", { margin: 1_200, leverage: 50, price: 60_000 });
    venue.index(50_000);
    const margin = 50_000 / bobsLeverage;
    bob.sells("limit", { margin, leverage: bobsLeverage, price: 50_000 });
    carol.buys("market", { margin: 90_000, reduceOnly: true });
    expect(carol.position().size).toBe(0);
    return { venue, alice, bob, carol };
  }

  test("one who can carry it: he pays 58,800 for what he sold at 50,000", () => {
    const { venue, bob } = gap(1);
    const wallet = bob.wallet;
    venue.tick();
    expect(bob.wallet).toBe((wallet * 1e6 + 50_000e6 - 8_800e6) / 1e6);
    expect(venue.happened("LossSocialised")).toEqual([]);
    expect(venue.fund).toBe(1_000_000);
  });

  test("one whom it would bankrupt, and nobody else: his shortfall is the fund's, logged", () => {
    const { venue, bob } = gap(20);
    const wallet = bob.wallet;
    venue.tick();
    // His margin of 2,500 goes, 6,300 are missing.
    expect(venue.happened("LossSocialised")).toMatchObject([
      { account: bob.account, market: 0, amountMicros: 6_300e6 },
    ]);
    expect(bob.wallet).toBe(wallet);
    expect(bob.position()).toEqual({ size: 0, cost: 0, margin: 0 });
    expect(venue.fund).toBe(993_700);
  });

  test("the fund may go negative", () => {
    const { venue } = gap(20, 1_000);
    venue.tick();
    expect(venue.fund).toBe(-5_300);
  });

  test("passed over for one who can carry it, though he ranks lower", () => {
    const { venue, bob } = gap(20);
    const dan = venue.trader("dan", 100_000);
    const eve = venue.trader("eve", 100_000);
    dan.sells("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    eve.buys("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    // Both shorts have no profit: score 0, and Bob's number is lower.
    venue.tick();
    // Each was asked for half of the coin, then Dan for the rest.
    expect(deleveraged(venue)).toEqual([
      [dan.account, 50_000],
      [dan.account, 50_000],
    ]);
    expect(bob.position().size).toBe(-1);
    expect(venue.happened("LossSocialised")).toEqual([]);
  });

  test.each([
    // The liquidation itself counts as two.
    { makers: 12, bobs: 1 },
    { makers: 14, bobs: 0 },
  ])("passed over, in a tick of $makers makers: what its units leave is the fund's", (row) => {
    const { venue, bob } = gap(20);
    const dan = venue.trader("dan", 100_000);
    const eve = venue.trader("eve", 100_000);
    dan.sells("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    eve.buys("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    const tight = RULE_SETS.map((rules) => ({ ...rules, ...unitsOf(row.makers) }));
    venue.engine = Engine.restore(venue.engine.snapshot(), tight);
    venue.tick();
    const [first, second] = deleveraged(venue);
    expect(first).toEqual([dan.account, 50_000]);
    expect(second).toEqual([row.bobs === 1 ? bob.account : dan.account, 50_000]);
    expect(venue.happened("LossSocialised")).toHaveLength(row.bobs);
  });

  test("passed over for a rounding, he gives fewer lots later, and nothing is socialised", () => {
    const market = { ...DUST, config: { ...DUST.config, maxIndexJumpPpm: 10 ** 12 } };
    const venue = new Venue({ markets: [market], ...NO_BACKSTOP });
    const trader = (name: string): Trader => venue.trader(name, 1);
    const [alice, bob, carol] = [trader("alice"), trader("bob"), trader("carol")];
    const [dan, eve] = [trader("dan"), trader("eve")];
    const trade = (seller: Trader, buyer: Trader, lots: number, price: number, leverage = 1) => {
      const terms = { size: lots / 1e6, price, leverage };
      seller.sells("limit", terms);
      buyer.buys("limit", terms);
    };
    // Alice paid 1,000 for five lots with a margin of 50: bankrupt at 190. Dan takes his profit.
    venue.index(200);
    trade(dan, alice, 5, 200, 20);
    venue.index(100);
    trade(bob, dan, 5, 100);
    trade(bob, eve, 5, 99);
    // Bob sold ten lots for 995 and keeps a margin of 905: bankrupt at 190 too.
    bob.changesMargin(-95 / 1e6);
    venue.index(99);
    trade(carol, eve, 3, 99);
    const { fund } = venue;
    venue.tick();
    // Bob ranks first. Of five lots he has ⌊452.5⌋ + ⌊497.5⌋ − 950 = −1; of the two that Carol leaves
    // 181 + 199 − 380 = 0.
    expect(deleveraged(venue)).toEqual([
      [carol.account, 3],
      [bob.account, 2],
    ]);
    expect(bob.position()).toEqual({ size: -8 / 1e6, cost: -796 / 1e6, margin: 724 / 1e6 });
    expect([venue.happened("LossSocialised"), venue.fund]).toEqual([[], fund]);
  });
});

describe("liquidation of the deleveraged", () => {
  test("one who is due himself: closed as the other side first, no longer due at his turn", () => {
    const venue = new Venue(NO_BACKSTOP);
    const alice = venue.trader("alice", 1_100);
    const bob = venue.trader("bob", 1_100);
    bob.sells("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    // A maintenance of 5 % makes both due in the same tick.
    const market = { ...venue.config.markets[0]!, tiers: [FIVE_PERCENT] };
    const config = { ...venue.config, markets: [market] };
    venue.operates({ kind: "Configure", config });
    venue.tick();
    expect(venue.happened("Liquidated")).toMatchObject([
      { account: alice.account, deleveragedLots: 100_000 },
    ]);
    // Bob bought back at 49,000: his margin and 1,000 of profit.
    expect(bob.wallet).toBe(1_100 - 10 + 1_000);
    expect(bob.position().size).toBe(0);
  });

  test("closed in part only: the rest of him is liquidated at his turn", () => {
    const venue = new Venue(NO_BACKSTOP);
    const alice = venue.trader("alice", 1_100);
    const bob = venue.trader("bob", 4_200);
    const carol = venue.trader("carol", 100_000);
    bob.sells("limit", { margin: 4_000, leverage: 25, price: 50_000 });
    alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
    carol.buys("limit", { margin: 50_000, leverage: 1, price: 50_000 });
    const market = { ...venue.config.markets[0]!, tiers: [FIVE_PERCENT] };
    const config = { ...venue.config, markets: [market] };
    venue.operates({ kind: "Configure", config });
    venue.tick();
    // Alice is short of 1,500, Bob of 1,000.
    expect(venue.happened("Liquidated").map((event) => event.account)).toEqual([
      alice.account,
      bob.account,
    ]);
    // Bob's second coin goes at his bankruptcy price, 52,000, to Carol: a gain of 2,000 for her.
    expect(deleveraged(venue)).toEqual([
      [bob.account, 100_000],
      [carol.account, 100_000],
    ]);
    expect(carol.realized()).toBe(2_000);
  });
});

const FIVE_PERCENT = { upToMicros: 20e12, maxLeverage: 10, maintenancePpm: 50_000 };
