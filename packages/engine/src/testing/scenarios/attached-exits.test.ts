/** Exits that are attached to an order: which lots they cover, and what ends them. */
import { exitId, STOP_LOSS_EXIT, TAKE_PROFIT_EXIT } from "@perpgate/protocol/order-id";
import { describe, expect, test } from "vitest";
import { describeDerived } from "../derived.js";
import { SMALL_TIERS } from "./listing.js";
import { type Pair, RestoredVenue } from "./restored-venue.js";
import type { Terms, Trader } from "./trader.js";

const PROFIT = 51_000;
const LOSS = 49_000;
const BOTH: Terms = { profitAt: PROFIT, lossAt: LOSS };

function traders(options: ConstructorParameters<typeof RestoredVenue>[0] = {}): Pair {
  const venue = new RestoredVenue(options);
  return { venue, alice: venue.trader("alice", 1_000_000), bob: venue.trader("bob", 9_000_000) };
}

/** The other side, at its price; one coin is $50,000. */
function sells(trader: Trader, coins: number, price = 50_000): void {
  trader.sells("limit", { size: coins, price });
}

function buys(trader: Trader, coins: number, price = 50_000): void {
  trader.buys("limit", { size: coins, price });
}

function takeProfitOf(orderId: number): number {
  return exitId(orderId, TAKE_PROFIT_EXIT);
}

function stopLossOf(orderId: number): number {
  return exitId(orderId, STOP_LOSS_EXIT);
}

/** Alice is long `coins` with both exits. */
function longWithExits(coins: number, terms: Terms = BOTH): Pair & { readonly orderId: number } {
  const pair = traders();
  sells(pair.bob, coins);
  const { orderId } = pair.alice.buys("limit", { size: coins, price: 50_000, ...terms });
  return { ...pair, orderId };
}

describe("placing an order with exits", () => {
  test("a market order that fills: both cover what it opened, and the acknowledgement names them", () => {
    const { venue, alice, bob } = traders();
    sells(bob, 2);
    const { orderId, status } = alice.buys("market", { size: 2, ...BOTH });
    expect([status, alice.covered(orderId), alice.openOrders()]).toEqual(["filled", [2, 2], 2]);
    const [ack] = venue.happened("OrderAcknowledged");
    expect(ack?.type).toBe(0 + 4 * 3);
    expect(venue.happened("OrderPlaced").map((event) => event.orderId)).toEqual([
      orderId,
      orderId + 0.25,
      orderId + 0.5,
    ]);
  });

  test("one that rests: they wait without lots, and no mark reaches them", () => {
    const { venue, alice, bob } = traders();
    const { orderId } = alice.buys("limit", { size: 2, price: 49_500, ...BOTH });
    expect([alice.covered(orderId), alice.openOrders()]).toEqual([[0, 0], 3]);
    venue.index(51_500);
    venue.tick();
    venue.index(49_600);
    venue.tick();
    expect(venue.happened("StopTriggered")).toEqual([]);
    sells(bob, 0.5, 49_500);
    expect(alice.covered(orderId)).toEqual([0.5, 0.5]);
    expect(venue.happened("ExitSized")).toHaveLength(2);
    // What was reached before there were lots does not count.
    venue.tick();
    expect(venue.happened("StopTriggered")).toEqual([]);
  });

  test("nothing filled and nothing rests: there are none", () => {
    const { venue, alice } = traders();
    for (const timeInForce of ["ioc", "fok"] as const) {
      const answer = alice.buys("limit", { size: 1, price: 50_000, timeInForce, ...BOTH });
      expect([answer.status, answer.reason]).toEqual(["canceled", "not_filled"]);
      expect(venue.happened("OrderAcknowledged")[0]?.type).toBe(1);
      expect(alice.openOrders()).toBe(0);
    }
  });

  test("lots that close do not count", () => {
    const { alice, bob } = traders();
    buys(bob, 1);
    sells(alice, 1);
    sells(bob, 3);
    const { orderId } = alice.buys("limit", { size: 3, price: 50_000, ...BOTH });
    expect([alice.position().size, alice.covered(orderId)]).toEqual([2, [2, 2]]);
  });

  test.each([
    ["long, profit below its price", { profitAt: 49_899, lossAt: LOSS }, 49_900, 1],
    ["long, profit at its price", { profitAt: 49_900 }, 49_900, 1],
    ["long, loss above its price", { lossAt: 49_950 }, 49_900, 2],
  ])("%s: exit_price", (_what, terms, price, kind) => {
    const { alice } = traders();
    const answer = alice.buys("limit", { size: 1, price, ...terms });
    expect([answer.reason, answer.details]).toEqual(["exit_price", [price * 10, kind]]);
  });

  test("a market order is judged by the mark, a limit order by its price", () => {
    const { alice, bob } = traders();
    sells(bob, 1);
    expect(alice.buys("market", { size: 1, profitAt: 50_000 }).reason).toBe("exit_price");
    expect(alice.sells("market", { size: 1, profitAt: 50_001 }).reason).toBe("exit_price");
    expect(alice.sells("market", { size: 1, lossAt: 49_999 }).reason).toBe("exit_price");
    expect(alice.buys("limit", { size: 1, price: 49_000, profitAt: 49_500 }).status).toBe(
      "resting",
    );
  });

  test("with what they cannot be: refused", () => {
    const { alice, bob } = traders();
    sells(bob, 1);
    buys(alice, 1);
    const reduces = { size: 1, price: 51_000, reduceOnly: true, profitAt: 50_000 };
    expect(alice.sells("limit", reduces).reason).toBe("invalid_order");
    expect(alice.sells("stop", { size: 1, price: 49_000, lossAt: 52_000 }).reason).toBe(
      "invalid_order",
    );
    const { reason } = alice.buys("limit", { size: 1, price: 50_000, lossAt: [49_000, 40_000] });
    expect(reason).toBe("limit_price_outside_band");
    expect(alice.buys("limit", { size: 1, price: 50_000, profitAt: 600_000 }).reason).toBe(
      "price_too_far",
    );
    const old = new RestoredVenue({ version: 2 });
    const carol = old.trader("carol", 100_000);
    expect(carol.buys("limit", { size: 1, price: 50_000, ...BOTH }).reason).toBe("invalid_order");
  });

  test.each([
    { exits: BOTH, type: "limit", places: 3 },
    { exits: { lossAt: LOSS }, type: "limit", places: 2 },
    { exits: BOTH, type: "market", places: 2 },
  ] as const)("$type order: it needs $places free places among the open orders", (given) => {
    const { venue, alice, bob } = traders();
    sells(bob, 1);
    const free = venue.config.maxOpenOrders;
    for (let i = 0; i < free - given.places + 1; i++) buys(alice, 0.01, 48_000);
    const price = given.type === "limit" ? 50_000 : 0;
    const place = () => alice.buys(given.type, { size: 1, price, ...given.exits });
    expect(place()).toMatchObject({ reason: "open_order_limit", details: [free, 0] });
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session: alice.session, market: 0 });
    for (let i = 0; i < free - given.places; i++) buys(alice, 0.01, 48_000);
    expect(place().status).toBe("filled");
  });
});

describe("what they cover", () => {
  test("each fill adds to both; other reductions shrink the newest pair first", () => {
    const { alice, bob } = traders();
    const first = alice.buys("limit", { size: 2, price: 50_000, ...BOTH });
    const second = alice.buys("limit", { size: 2, price: 49_900, ...BOTH });
    sells(bob, 3, 49_900);
    expect([alice.covered(first.orderId), alice.covered(second.orderId)]).toEqual([
      [2, 2],
      [1, 1],
    ]);
    buys(bob, 1.5, 49_950);
    sells(alice, 1.5, 49_950);
    // The rest of the second order can still open lots.
    expect([alice.covered(first.orderId), alice.covered(second.orderId)]).toEqual([
      [1.5, 1.5],
      [0, 0],
    ]);
  });

  test("lots without exits are older than any pair: the pair shrinks first", () => {
    const { alice, bob } = traders();
    sells(bob, 3);
    buys(alice, 2);
    const { orderId } = alice.buys("limit", { size: 1, price: 50_000, ...BOTH });
    buys(bob, 1);
    sells(alice, 1);
    expect([alice.position().size, alice.covered(orderId)]).toEqual([2, [null, null]]);
  });

  test("one fills: the other shrinks with it, lot by lot, and ends with the last", () => {
    const { venue, alice, bob, orderId } = longWithExits(2, {
      profitAt: [PROFIT, PROFIT],
      lossAt: LOSS,
    });
    venue.index(PROFIT);
    venue.tick();
    // Nobody buys: the take profit rests at its limit.
    expect(venue.happened("OrderRested").map((event) => event.orderId)).toEqual([
      takeProfitOf(orderId),
    ]);
    buys(bob, 0.5, PROFIT);
    expect(alice.covered(orderId)).toEqual([1.5, 1.5]);
    buys(bob, 1.5, PROFIT);
    expect(venue.ended()).toEqual([
      [stopLossOf(orderId), "position_closed"],
      [takeProfitOf(orderId), "none"],
    ]);
    expect([alice.position().size, alice.openOrders()]).toEqual([0, 0]);
  });

  test("the stop loss triggers: it sells what it covers, and the other ends", () => {
    const { venue, alice, bob, orderId } = longWithExits(2);
    buys(bob, 5, 48_900);
    venue.index(48_950);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toEqual(
      expect.arrayContaining([
        [takeProfitOf(orderId), "position_closed"],
        [stopLossOf(orderId), "none"],
      ]),
    );
  });

  test("what the book cannot take of a plain exit is canceled; the other keeps it covered", () => {
    const { venue, alice, bob, orderId } = longWithExits(2);
    buys(bob, 0.5, 48_900);
    venue.index(48_950);
    venue.tick();
    expect(venue.ended()).toContainEqual([stopLossOf(orderId), "book_empty"]);
    expect(alice.covered(orderId)).toEqual([1.5, null]);
  });

  test("a flip ends those of the old side and covers what the order opened", () => {
    const { venue, alice, bob, orderId } = longWithExits(2);
    buys(bob, 3);
    const short = { profitAt: LOSS, lossAt: PROFIT };
    const flip = alice.sells("limit", { size: 3, price: 50_000, ...short });
    expect([alice.position().size, alice.covered(flip.orderId)]).toEqual([-1, [1, 1]]);
    expect(venue.ended()).toEqual(
      expect.arrayContaining([
        [takeProfitOf(orderId), "position_closed"],
        [stopLossOf(orderId), "position_closed"],
      ]),
    );
  });
});

describe("while the order is open", () => {
  test("the position ends: they wait, and cover what its rest opens later", () => {
    const { venue, alice, bob } = traders();
    const { orderId } = alice.buys("limit", { size: 2, price: 50_000, ...BOTH });
    sells(bob, 1);
    alice.amends(orderId, { price: 49_800 });
    buys(bob, 1, 49_900);
    sells(alice, 1, 49_900);
    // Ending them here would leave the second coin without exits.
    expect([alice.position().size, alice.covered(orderId)]).toEqual([0, [0, 0]]);
    sells(bob, 1, 49_800);
    expect([alice.position().size, alice.covered(orderId)]).toEqual([1, [1, 1]]);
    expect(venue.happened("ExitSized")).toHaveLength(2);
  });

  test("one that triggered and closed all its lots waits for the next ones", () => {
    const { venue, alice, bob } = traders();
    const { orderId } = alice.buys("limit", { size: 2, price: 49_500, profitAt: 50_500 });
    sells(bob, 1, 49_500);
    buys(bob, 1, 50_400);
    venue.index(50_600);
    venue.tick();
    expect(venue.happened("StopTriggered")).toHaveLength(1);
    expect([alice.position().size, alice.covered(orderId)]).toEqual([0, [0, null]]);
    venue.index(49_600);
    venue.tick();
    sells(bob, 1, 49_500);
    expect(alice.covered(orderId)).toEqual([1, null]);
    buys(bob, 1, 50_400);
    venue.index(50_600);
    venue.tick();
    expect(alice.position().size).toBe(0);
    expect(venue.ended()).toContainEqual([takeProfitOf(orderId), "none"]);
  });

  test("its rest is canceled: they stay for what it has opened", () => {
    const { venue, alice, bob } = traders();
    const { orderId } = alice.buys("limit", { size: 2, price: 50_000, ...BOTH });
    sells(bob, 1);
    alice.cancels(orderId);
    expect(venue.ended()).toEqual([[orderId, "requested"]]);
    expect(alice.covered(orderId)).toEqual([1, 1]);
  });

  test.each(["cancel", "expiry", "amendment"])(
    "nothing has filled: they end with it (%s)",
    (how) => {
      const { venue, alice } = traders();
      const expiresAt = venue.now + 1_000;
      const { orderId } = alice.buys("limit", {
        size: 2,
        price: 49_000,
        expiresAt,
        profitAt: PROFIT,
      });
      if (how === "cancel") alice.cancels(orderId);
      for (let i = 0; how === "expiry" && i < 9 && alice.openOrders() > 0; i++) venue.tick();
      if (how === "amendment") alice.amends(orderId, { size: 1e-8 });
      expect(alice.openOrders()).toBe(how === "amendment" ? 2 : 0);
      if (how === "amendment") return;
      expect(venue.ended()).toContainEqual([takeProfitOf(orderId), "order_ended"]);
    },
  );

  test("amended: price and exits stay on the right sides; size and expiry of an exit are not its own", () => {
    const { alice, bob } = traders();
    const { orderId } = alice.buys("limit", { size: 2, price: 49_500, ...BOTH });
    expect(alice.amends(orderId, { price: 48_900 }).reason).toBe("exit_price");
    expect(alice.amends(takeProfitOf(orderId), { price: 49_400 }).reason).toBe("exit_price");
    expect(alice.amends(stopLossOf(orderId), { price: 49_600 }).reason).toBe("exit_price");
    expect(alice.amends(stopLossOf(orderId), { size: 1 }).reason).toBe("invalid_order");
    expect(alice.amends(stopLossOf(orderId), { expiresAt: 0 }).reason).toBe("invalid_order");
    // Below the mark, but it covers nothing yet.
    expect(alice.amends(takeProfitOf(orderId), { price: 49_700 }).status).toBe("pending");
    sells(bob, 2, 49_500);
    expect(alice.amends(takeProfitOf(orderId), { price: 49_900 }).reason).toBe(
      "stop_would_trigger",
    );
    expect(alice.amends(takeProfitOf(orderId), { price: 50_900 }).status).toBe("pending");
  });
});

describe("what ends them", () => {
  test("each can be canceled alone; the other stays", () => {
    const { venue, alice, bob, orderId } = longWithExits(1);
    expect(alice.cancels(takeProfitOf(orderId))).toBeNull();
    expect([venue.ended(), alice.covered(orderId)]).toEqual([
      [[takeProfitOf(orderId), "requested"]],
      [null, 1],
    ]);
    expect(bob.cancels(stopLossOf(orderId))).toBe("order_not_cancelable");
  });

  test("cancel-all ends them as it ends stops", () => {
    const { venue, alice, orderId } = longWithExits(1);
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session: alice.session, market: 0 });
    expect(venue.happened("AllCanceled")[0]?.count).toBe(2);
    expect(alice.covered(orderId)).toEqual([null, null]);
  });

  test("liquidation cancels them", () => {
    const venue = new RestoredVenue({ markets: [SMALL_TIERS] });
    const alice = venue.trader("alice", 2_000);
    const bob = venue.trader("bob", 1_000_000);
    bob.sells("limit", { margin: 4_000, leverage: 1, price: 50_000 });
    const terms = { margin: 160, leverage: 25, price: 50_000, profitAt: 52_000 };
    const { orderId } = alice.buys("limit", terms);
    bob.buys("limit", { margin: 10_000, leverage: 10, price: 49_000 });
    venue.index(48_800);
    venue.tick();
    expect(venue.happened("Liquidated").length).toBeGreaterThan(0);
    expect(venue.ended()).toContainEqual([takeProfitOf(orderId), "liquidation"]);
  });

  test("closePosition closes the position: they end with it, and do not keep it", () => {
    const { venue, alice, bob, orderId } = longWithExits(1);
    const terms = { margin: 0, leverage: 1, price: 49_500, closePosition: true };
    const stop = alice.sells("stop", terms);
    buys(bob, 1, 49_400);
    venue.index(49_450);
    venue.tick();
    expect(venue.ended().sort()).toEqual(
      expect.arrayContaining([
        [takeProfitOf(orderId), "position_closed"],
        [stopLossOf(orderId), "position_closed"],
        [stop.orderId, "none"],
      ]),
    );
    expect(alice.openOrders()).toBe(0);
  });
});

describe("a fill-or-kill order that fails", () => {
  test("leaves the exits of makers as they were", () => {
    const { venue, alice, bob, orderId } = longWithExits(2);
    const resting = alice.sells("limit", { size: 2, price: 50_000 });
    const entry = alice.buys("limit", { size: 1, price: 49_900, ...BOTH });
    const before = describeDerived(venue.engine.state);
    const answer = bob.buys("limit", { size: 3, price: 50_000, timeInForce: "fok" });
    expect([answer.status, answer.reason]).toEqual(["canceled", "not_filled"]);
    expect(venue.happened("ExitSized")).toEqual([]);
    expect([alice.covered(orderId), alice.covered(entry.orderId)]).toEqual([
      [2, 2],
      [0, 0],
    ]);
    expect(describeDerived(venue.engine.state)).toEqual(before);
    // They still work.
    buys(bob, 1);
    expect(alice.covered(orderId)).toEqual([1, 1]);
    expect(resting.status).toBe("resting");
  });
});
