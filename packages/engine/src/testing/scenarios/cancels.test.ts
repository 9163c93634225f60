/** Cancel, cancel all, and the dead-man's switch. */
import { describe, expect, test } from "vitest";
import { END_REASONS } from "../../reasons.js";
import { quoting } from "./quoting.js";
import { START_MS, type Venue } from "./venue.js";

describe("cancel", () => {
  test("the last event is its leaf, which the block counts; a refused one has none", () => {
    const { venue, alice, ids } = quoting();
    const [orderId = 0] = ids;
    venue.tick();
    expect(alice.cancels(orderId)).toBeNull();
    const [ended] = venue.happened("OrderEnded");
    const { account, session } = alice;
    const ackNonce = venue.engine.seq;
    const block = venue.engine.state.totals.block;
    expect(venue.events.at(-1)).toEqual({
      kind: "CancelAcknowledged",
      ...{ orderId, account, session, market: ended?.market, nonce: 0 },
      ...{ remainingLots: ended?.remainingLots, block, ackNonce },
    });
    expect(ended?.remainingLots).toBeGreaterThan(0);
    expect(alice.cancels(orderId)).toBe("order_not_cancelable");
    expect(venue.happened("CancelAcknowledged")).toEqual([]);
    venue.tick();
    expect(venue.happened("BlockSealed")).toMatchObject([{ number: block, ackCount: 1 }]);
  });
});

describe("cancel all", () => {
  test("every order of the account, ascending, and a count; others' stay", () => {
    const { venue, alice, bob, ids } = quoting();
    const session = alice.session;
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: -1 });
    expect(venue.happened("OrderEnded").map((event) => event.orderId)).toEqual(ids);
    expect(venue.events.at(-1)).toMatchObject({ kind: "AllCanceled", count: 4 });
    expect([alice.wallet, bob.openOrders()]).toEqual([10_000, 1]);
  });

  test("one market only; none open is a count of 0", () => {
    const { venue, alice, ids } = quoting();
    const session = alice.session;
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: 1 });
    expect(venue.happened("OrderEnded").map((event) => event.orderId)).toEqual([ids[0]]);
    venue.apply({ kind: "CancelAll", stampMs: venue.now, session, market: 1 });
    expect(venue.events).toMatchObject([{ kind: "AllCanceled", count: 0 }]);
  });
});

describe("dead-man's switch", () => {
  const arm = (venue: Venue, session: number, afterMs: number): void => {
    venue.apply({ kind: "CancelAfter", stampMs: venue.now, session, afterMs });
  };

  test("fires at the first tick at or after its time, cancels everything, once", () => {
    const { venue, alice, bob, ids } = quoting();
    arm(venue, alice.session, 1_100);
    expect(venue.events).toMatchObject([{ kind: "CancelAfterSet", cancelAtMs: START_MS + 1_100 }]);
    venue.waits(1);
    expect(alice.openOrders()).toBe(3);
    venue.tick();
    expect(venue.happened("CancelAfterFired")).toMatchObject([{ account: alice.account }]);
    const ended = venue.happened("OrderEnded");
    expect(ended.map((event) => event.orderId)).toEqual(ids);
    expect(ended.map((event) => END_REASONS[event.reason])).toEqual(ids.map(() => "cancel_after"));
    expect(bob.openOrders()).toBe(1);
    alice.buys("limit", { margin: 100, price: 49_000 });
    expect(venue.waits(2).some((event) => event.kind === "CancelAfterFired")).toBe(false);
    expect(alice.openOrders()).toBe(1);
  });

  test("set again: only the last time counts; 0 disarms", () => {
    const { venue, alice } = quoting();
    arm(venue, alice.session, 1_000);
    venue.waits(0.8);
    arm(venue, alice.session, 2_000);
    venue.waits(1.8);
    expect(alice.openOrders()).toBe(3);
    arm(venue, alice.session, 0);
    expect(venue.events).toMatchObject([{ kind: "CancelAfterSet", cancelAtMs: 0 }]);
    venue.waits(5);
    expect(alice.openOrders()).toBe(3);
  });

  test("survives the session that set it", () => {
    const { venue, alice } = quoting();
    arm(venue, alice.session, 1_000);
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session: alice.session });
    venue.waits(1);
    expect(alice.openOrders()).toBe(0);
  });

  test("two due in the same tick: by time, then by account", () => {
    const { venue, alice, bob } = quoting();
    arm(venue, bob.session, 1_000);
    arm(venue, alice.session, 1_000);
    venue.resumes(venue.now + 5_000);
    venue.tick();
    const fired = venue.happened("CancelAfterFired").map((event) => event.account);
    expect(fired).toEqual([alice.account, bob.account]);
  });

  for (const afterMs of [1, 999, 3_600_001, 1_500.5, -1_000, Number.NaN]) {
    test(`${afterMs} ms: refused`, () => {
      const { venue, alice } = quoting();
      arm(venue, alice.session, afterMs);
      expect(venue.refusal).toBe("invalid_command");
    });
  }
});
