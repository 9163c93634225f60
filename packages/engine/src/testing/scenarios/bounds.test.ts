/** What must not grow for ever: sessions, timers, deposits; and grants that the bound held back. */
import { describe, expect, test } from "vitest";
import { MAX_DEPOSITS_MICROS } from "../../config.js";
import { END_REASONS } from "../../reasons.js";
import { creditVote } from "../commands.js";
import { LightVenue } from "../rules/light-venue.js";
import { MICROS } from "./listing.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const DAY_MS = 86_400_000;

describe("sessions", () => {
  test("the 65th sign-in ends the oldest session, and its orders if it asked for that", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 10_000);
    const oldest = alice.session;
    const { now: stampMs } = venue;
    venue.apply({ kind: "SetSessionOption", stampMs, session: oldest, cancelOnDisconnect: true });
    alice.buys("limit", { margin: 490, price: 49_000 });
    const second = alice.signsIn();
    alice.buys("limit", { margin: 480, price: 48_000 });
    for (let i = 0; i < 62; i++) alice.signsIn();
    expect(venue.engine.state.sessions.size).toBe(64);
    expect(alice.openOrders()).toBe(2);

    alice.signsIn();
    expect(venue.events.map(({ kind }) => kind)).toEqual([
      "OrderEnded",
      "PositionSettled",
      "SessionClosed",
      "SessionOpened",
    ]);
    expect(venue.happened("SessionClosed")).toMatchObject([{ session: oldest, expired: 0 }]);
    expect(END_REASONS[venue.happened("OrderEnded")[0]!.reason]).toBe("disconnected");
    expect(alice.openOrders()).toBe(1);
    alice.signsIn();
    expect(venue.happened("SessionClosed")).toMatchObject([{ session: second, expired: 0 }]);
    expect(venue.happened("OrderEnded")).toEqual([]);
  });

  test("other accounts' sessions do not count, and a snapshot knows which is the oldest", () => {
    const venue = new Venue();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    const oldest = alice.session;
    for (let i = 0; i < 63; i++) alice.signsIn();
    bob.signsIn();
    expect(venue.happened("SessionClosed")).toEqual([]);
    venue.restarts();
    alice.signsIn();
    expect(venue.happened("SessionClosed")).toMatchObject([{ session: oldest }]);
  });

  test("a refused sign-in ends nothing", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    for (let i = 0; i < 63; i++) alice.signsIn();
    alice.signsIn({ expiresAtMs: venue.now });
    expect(venue.refusal).toBe("session_expired");
    expect(venue.engine.state.sessions.size).toBe(64);
  });
});

describe("many in one tick", () => {
  /** Traders with a session of a second each. */
  function briefSessions(venue: Venue): Trader[] {
    const expiresAtMs = venue.now + 1_000;
    return Array.from({ length: 300 }, (_, i) => {
      const trader = venue.trader(`trader ${i}`);
      trader.signsIn({ expiresAtMs });
      return trader;
    });
  }

  test("sessions that expire together are closed over several ticks, the first ones first", () => {
    const venue = new Venue();
    const sessions = briefSessions(venue).map(({ session }) => session);
    const closed: number[][] = [];
    for (let tick = 0; tick < 8; tick++) {
      venue.tick();
      closed.push(venue.happened("SessionClosed").map(({ session }) => session));
      venue.restarts();
    }
    expect(closed.filter((each) => each.length > 0).map((each) => each.length)).toEqual([256, 44]);
    expect(closed.flat()).toEqual(sessions);
  });

  test("an expired session cannot be used while it waits to be closed", () => {
    const venue = new Venue();
    const last = briefSessions(venue).at(-1)!;
    while (venue.happened("SessionClosed").length === 0) venue.tick();
    expect(venue.engine.state.sessions.get(last.session)).toBeDefined();
    last.buys("limit", { margin: 490, price: 49_000 });
    expect(venue.refusal).toBe("session_expired");
  });

  test.each([
    [2, [256, 44]],
    [3, [300]],
  ])("version %i: dead-man's switches that are due together fire in %j", (version, expected) => {
    const venue = new Venue({ version });
    for (let i = 0; i < 300; i++) {
      const { session } = venue.trader(`trader ${i}`);
      venue.apply({ kind: "CancelAfter", stampMs: venue.now, session, afterMs: 1_000 });
    }
    const fired: number[] = [];
    for (let tick = 0; tick < 8; tick++) {
      venue.tick();
      fired.push(venue.happened("CancelAfterFired").length);
    }
    expect(fired.filter((count) => count > 0)).toEqual(expected);
  });
});

describe("the dev attestor", () => {
  test("deposits that are due together are credited over several ticks, the first ones first", () => {
    const dev = { attestorKind: "dev", devCreditMicros: 1 * MICROS } as const;
    const venue = new LightVenue({ config: dev });
    const alice = venue.trader("alice");
    const ids = Array.from({ length: 300 }, () => registers(alice));
    const credited: number[][] = [];
    for (let tick = 0; tick < 12; tick++) {
      venue.tick();
      credited.push(venue.happened("DepositCredited").map(({ depositId }) => depositId));
      venue.restarts();
    }
    const counts = credited.map(({ length }) => length);
    expect(counts.filter((count) => count > 0)).toEqual([256, 44]);
    expect(credited.flat()).toEqual(ids);
  });
});

describe("timers", () => {
  test("CancelAfter again and again: one entry an account, and the last one counts", () => {
    const venue = new LightVenue();
    const alice = venue.trader("alice", 10_000);
    alice.buys("limit", { margin: 490, price: 49_000 });
    const set = (afterMs: number) =>
      venue.apply({ kind: "CancelAfter", stampMs: venue.now, session: alice.session, afterMs });
    for (let i = 0; i < 5_000; i++) set(1_000 + i);
    expect(venue.engine.state.switches.size).toBe(1);
    set(3_600_000);
    venue.waits(8);
    expect(alice.openOrders()).toBe(1);
    set(0);
    expect(venue.engine.state.switches.size).toBe(0);
    set(1_000);
    venue.waits(2);
    expect([alice.openOrders(), venue.engine.state.switches.size]).toEqual([0, 0]);
  });
});

let transactions = 0;

function registers(trader: Trader, txHash = `${++transactions}`): number {
  return trader.registers({ txHash });
}

function attests(
  venue: Venue,
  depositId: number,
  verdict: "confirming" | "credit" | "reject" | "reorged",
  owner?: Trader,
  reason = "transaction_gone",
): void {
  const credit = { address: owner?.address ?? "", amountMicros: 10_000 * MICROS, logIndex: 0 };
  venue.apply(
    creditVote({
      stampMs: venue.now,
      depositId,
      verdict,
      votedAtMs: venue.now,
      confirmations: 1,
      credits: verdict === "credit" ? [credit] : [],
      reason: verdict === "credit" || verdict === "confirming" ? "" : reason,
    }),
  );
}

/** Ticks once, a time later. */
function later(venue: Venue, ms: number): void {
  venue.resumes(venue.now + ms);
  venue.tick();
}

describe("deposits", () => {
  test("a hundred hashes that nobody has seen; the next is refused until one is seen", () => {
    const venue = new Venue();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    const first = registers(alice, "first");
    for (let i = 1; i < 100; i++) registers(alice);
    registers(alice);
    expect(venue.refusal).toBe("too_many_unseen_deposits");
    expect(registers(alice, "first")).toBe(first);
    expect(registers(bob)).toBeGreaterThan(first);
    attests(venue, first, "confirming");
    expect(registers(alice)).toBeGreaterThan(first);
    venue.restarts();
    registers(alice);
    expect(venue.refusal).toBe("too_many_unseen_deposits");
  });

  test("a hundred hashes that nobody has seen: a rejected one is not registered again on top", () => {
    const venue = new Venue();
    const [alice, bob] = [venue.trader("alice"), venue.trader("bob")];
    const rejected = registers(alice, "rejected");
    attests(venue, rejected, "reject", undefined, "transaction_not_found");
    const first = registers(alice, "first unseen");
    for (let i = 1; i < 100; i++) registers(alice);
    registers(alice, "rejected");
    expect(venue.refusal).toBe("too_many_unseen_deposits");
    expect(venue.engine.state.deposits.byId.get(rejected)?.status).toBe("rejected");
    expect(registers(bob, "rejected")).toBe(rejected);
    attests(venue, rejected, "reject", undefined, "transaction_not_found");
    attests(venue, first, "confirming");
    expect(registers(alice, "rejected")).toBe(rejected);
    expect(venue.engine.state.deposits.unseen(alice.account)).toBe(100);
  });

  test("unseen for a day: forgotten, and the same hash is a new deposit; seen ones stay", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    const unseen = registers(alice, "unseen");
    const seen = registers(alice, "seen");
    attests(venue, seen, "confirming");
    later(venue, DAY_MS - 1_000);
    expect(venue.happened("DepositForgotten")).toEqual([]);
    later(venue, 1_000);
    expect(venue.happened("DepositForgotten")).toMatchObject([{ depositId: unseen }]);
    expect([...venue.engine.state.deposits.byId.keys()]).toEqual([seen]);
    alice.signsIn();
    expect(registers(alice, "unseen")).toBeGreaterThan(seen);
  });

  test("rejected: forgotten after a week; credited: never, so that no hash is credited twice", () => {
    const venue = new Venue();
    const alice = venue.trader("alice");
    const rejected = registers(alice);
    attests(venue, rejected, "reject");
    const credited = registers(alice, "paid");
    attests(venue, credited, "credit", alice);
    later(venue, 7 * DAY_MS - 1_000);
    expect(venue.happened("DepositForgotten")).toEqual([]);
    later(venue, 1_000);
    expect(venue.happened("DepositForgotten")).toMatchObject([{ depositId: rejected }]);
    later(venue, 400 * DAY_MS);
    alice.signsIn();
    expect(registers(alice, "paid")).toBe(credited);
    expect(alice.wallet).toBe(10_000);
  });

  test("the bound counts what the venue owes now: neither the fund's seed nor what was lost", () => {
    const venue = new Venue({ config: { fundSeedMicros: MAX_DEPOSITS_MICROS } });
    const alice = venue.trader("alice");
    attests(venue, registers(alice), "credit", alice);
    expect(alice.wallet).toBe(10_000);
  });
});

describe("a reorganised credit", () => {
  function reorged() {
    const venue = new Venue();
    const [alice, bob] = [venue.trader("alice", 10_000), venue.trader("bob", 50_000)];
    const deposit = registers(alice);
    attests(venue, deposit, "credit", alice);
    bob.sells("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 5_000, price: 50_000 });
    alice.buys("limit", { margin: 490, price: 49_000 });
    attests(venue, deposit, "reorged");
    expect(venue.happened("DepositReorged")).toMatchObject([{ depositId: deposit }]);
    return { venue, alice, bob, deposit };
  }

  test("its account opens nothing, at placement and at fills; it reduces, cancels and reads", () => {
    const { venue, alice, bob } = reorged();
    expect(alice.buys("limit", { margin: 480, price: 48_000 }).reason).toBe("deposit_reorged");
    bob.sells("limit", { margin: 490, price: 49_000 });
    expect(venue.happened("Traded")).toEqual([]);
    expect(END_REASONS[venue.happened("OrderEnded")[0]!.reason]).toBe("deposit_reorged");
    bob.buys("limit", { margin: 2_450, price: 49_000 });
    expect(alice.sells("market", { margin: 1e6, reduceOnly: true }).filled).toBeGreaterThan(0);
  });

  test("until the operator has settled it; a snapshot keeps that", () => {
    const { venue, alice, bob, deposit } = reorged();
    venue.restarts();
    expect(alice.buys("limit", { margin: 480, price: 48_000 }).reason).toBe("deposit_reorged");
    expect(bob.buys("limit", { margin: 480, price: 48_000 }).status).toBe("resting");
    venue.operates({ kind: "SettleReorgedDeposit", depositId: deposit });
    expect(alice.buys("limit", { margin: 480, price: 48_000 }).status).toBe("resting");
    venue.restarts();
    expect(alice.buys("limit", { margin: 470, price: 47_900 }).status).toBe("resting");
  });
});
