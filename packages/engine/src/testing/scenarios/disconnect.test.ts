/** Cancel-on-disconnect: whose orders are canceled after a lost connection, when, and how many per tick. */
import { describe, expect, test } from "vitest";
import { DISCONNECT_CANCELS_PER_COMMAND } from "../../config.js";
import { END } from "../../reasons.js";
import { SABOTAGES, strikeAt } from "../faults/sabotage.js";
import { BTC, ETH } from "./listing.js";
import { quoting } from "./quoting.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

const DAY_MS = 86_400_000;

function connects(venue: Venue, session: number): void {
  venue.apply({ kind: "SessionConnected", stampMs: venue.now, session });
  expect(venue.events).toEqual([]);
}

/** Sets the option of a session that is connected. */
function sets(venue: Venue, trader: Trader, cancelOnDisconnect: boolean): void {
  const { session } = trader;
  connects(venue, session);
  venue.apply({ kind: "SetSessionOption", stampMs: venue.now, session, cancelOnDisconnect });
}

function disconnects(venue: Venue, session: number): void {
  venue.apply({ kind: "SessionDisconnected", stampMs: venue.now, session });
}

function ended(venue: Venue): number[] {
  const events = venue.happened("OrderEnded");
  expect(events.filter((event) => event.reason !== END.disconnected)).toEqual([]);
  return events.map((event) => event.orderId);
}

function quotes(trader: Trader, count: number): number[] {
  return Array.from({ length: count }, () => {
    return trader.buys("limit", { margin: 1, leverage: 1, price: 49_000 }).orderId;
  });
}

describe("the option", () => {
  test("off unless set: a lost connection changes nothing and says nothing", () => {
    const { venue, alice } = quoting();
    connects(venue, alice.session);
    disconnects(venue, alice.session);
    expect(venue.events).toEqual([]);
    sets(venue, alice, true);
    expect(venue.events).toEqual([
      { kind: "SessionOptionSet", session: alice.session, cancelOnDisconnect: 1 },
    ]);
    sets(venue, alice, false);
    expect(venue.events).toMatchObject([{ kind: "SessionOptionSet", cancelOnDisconnect: 0 }]);
    disconnects(venue, alice.session);
    expect(venue.events).toEqual([]);
    expect([alice.openOrders(), alice.openOrders(ETH)]).toEqual([3, 1]);
  });

  test("set to what it is: no error; of an unknown or expired session: refused", () => {
    const { venue, alice } = quoting();
    sets(venue, alice, true);
    sets(venue, alice, true);
    expect(venue.refusal).toBeNull();
    const option = { kind: "SetSessionOption", cancelOnDisconnect: true } as const;
    venue.apply({ ...option, stampMs: venue.now, session: 9_999 });
    expect(venue.refusal).toBe("session_unknown");
    venue.resumes(venue.now + DAY_MS);
    venue.apply({ ...option, stampMs: venue.now, session: alice.session });
    expect(venue.refusal).toBe("session_expired");
  });

  test("rotation keeps it, a new sign-in begins without it", () => {
    const { venue, alice, ids } = quoting();
    sets(venue, alice, true);
    const keys = { oldKey: alice.key, newKey: "another" };
    venue.apply({ kind: "RotateSession", stampMs: venue.now, session: alice.session, ...keys });
    const first = alice.session;
    alice.key = "another";
    alice.signsIn();
    connects(venue, alice.session);
    disconnects(venue, alice.session);
    expect(venue.events).toEqual([]);
    disconnects(venue, first);
    expect(ended(venue)).toEqual(ids);
  });
});

describe("the last connection is gone", () => {
  test("the session's orders in all markets, ascending, and a count; all others stay", () => {
    const { venue, alice, bob, ids } = quoting();
    sets(venue, alice, true);
    const first = alice.session;
    alice.signsIn();
    const other = alice.sells("limit", { margin: 100, price: 51_000 }).orderId;
    disconnects(venue, first);
    expect(ended(venue)).toEqual(ids);
    expect(venue.events.at(-1)).toEqual({ kind: "AllCanceled", account: alice.account, count: 4 });
    expect([alice.openOrders(), alice.openOrders(ETH), bob.openOrders()]).toEqual([1, 0, 1]);
    expect(alice.cancels(other)).toBeNull();
    expect(alice.wallet).toBe(10_000);
  });

  test("nothing open: a count of 0; without a connection: nothing", () => {
    const { venue, alice } = quoting();
    sets(venue, alice, true);
    disconnects(venue, alice.session);
    for (let again = 0; again < 2; again++) {
      connects(venue, alice.session);
      disconnects(venue, alice.session);
      expect(venue.events).toEqual([{ kind: "AllCanceled", account: alice.account, count: 0 }]);
      disconnects(venue, alice.session);
      expect(venue.events).toEqual([]);
    }
  });

  test("of a session that is gone, or never was: no effect and no refusal", () => {
    const { venue, alice } = quoting();
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session: alice.session });
    for (const session of [alice.session, 9_999]) {
      disconnects(venue, session);
      expect(venue.events).toEqual([]);
    }
    expect(alice.openOrders()).toBe(3);
  });

  test("orders that the session places later stay until the next time", () => {
    const { venue, alice } = quoting();
    sets(venue, alice, true);
    disconnects(venue, alice.session);
    const [later] = quotes(alice, 1);
    venue.waits(1);
    expect(alice.openOrders()).toBe(1);
    connects(venue, alice.session);
    disconnects(venue, alice.session);
    expect(ended(venue)).toEqual([later]);
  });

  test("in a halted market they go all the same", () => {
    const { venue, alice, ids } = quoting();
    sets(venue, alice, true);
    const overflow = SABOTAGES.find((each) => each.name === "an overflow in Ladder.add")!;
    strikeAt(overflow, 1, () => {
      alice.buys("limit", { margin: 100, price: 47_000 });
    });
    expect(venue.market(BTC).halted).toBe(true);
    disconnects(venue, alice.session);
    expect(ended(venue)).toEqual(ids);
  });
});

describe("the session ends", () => {
  test("signed out: its orders go in the same command, before it", () => {
    const { venue, alice, bob, ids } = quoting();
    sets(venue, alice, true);
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session: alice.session });
    expect(ended(venue)).toEqual(ids);
    expect(venue.events.at(-1)).toMatchObject({ kind: "SessionClosed", expired: 0 });
    expect([alice.wallet, bob.openOrders()]).toEqual([10_000, 1]);
  });

  test("expired: its orders go in the tick that closes it", () => {
    const { venue, alice, ids } = quoting();
    sets(venue, alice, true);
    venue.pauses(venue.now + DAY_MS - 200);
    expect(venue.events.map(({ kind }) => kind)).toEqual(["TimeJumped"]);
    venue.tick();
    expect(ended(venue)).toEqual(ids);
    const closed = venue.happened("SessionClosed").map((event) => event.session);
    expect(closed).toEqual([alice.session, alice.session + 3]);
  });

  test("a fault while its orders go: the market halts, and the session still ends", () => {
    const { venue, alice, ids } = quoting();
    sets(venue, alice, true);
    const overflow = SABOTAGES.find((each) => each.name === "an overflow in Ladder.remove")!;
    strikeAt(overflow, 2, () => {
      venue.apply({ kind: "CloseSession", stampMs: venue.now, session: alice.session });
    });
    expect(venue.events[0]).toMatchObject({ kind: "MarketHalted", market: 0 });
    expect(ended(venue)).toEqual(ids);
    expect(venue.events.at(-1)).toMatchObject({ kind: "SessionClosed", session: alice.session });
  });
});

describe("a start", () => {
  test("all connected sessions with the option on, by number; a pause touches none", () => {
    const { venue, alice, bob, ids, bobs } = quoting();
    const carol = venue.trader("carol", 1_000);
    quotes(carol, 1);
    sets(venue, bob, true);
    sets(venue, alice, true);
    venue.pauses(venue.now + 60_000);
    expect(venue.events.map(({ kind }) => kind)).toEqual(["TimeJumped"]);
    venue.resumes(venue.now + 60_000);
    expect(ended(venue)).toEqual([...ids, bobs]);
    expect(carol.openOrders()).toBe(1);
    // The option stays: a client that is back does not have to ask again.
    venue.refreshesIndex();
    const [later] = quotes(alice, 1);
    connects(venue, alice.session);
    disconnects(venue, alice.session);
    expect(ended(venue)).toEqual([later]);
  });

  test("a session that expired while nobody was there: its orders go", () => {
    const { venue, alice, ids } = quoting();
    sets(venue, alice, true);
    venue.resumes(venue.now + 2 * DAY_MS);
    expect(ended(venue)).toEqual(ids);
  });

  test("version 2: more orders than a command may cancel: the rest first in the next ticks", () => {
    const venue = new Venue({ version: 2, config: { maxOpenOrders: 5_000 } });
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 10_000);
    const many = DISCONNECT_CANCELS_PER_COMMAND - 200;
    const all = [...quotes(alice, many), ...quotes(bob, many)];
    sets(venue, bob, true);
    sets(venue, alice, true);
    venue.resumes(venue.now + 1_000);
    expect(ended(venue)).toEqual(all.slice(0, DISCONNECT_CANCELS_PER_COMMAND));
    // Both are back before the next tick: what they place now is not meant.
    const [back, gone] = [quotes(alice, 1)[0]!, all.at(-1)!];
    const [later] = quotes(bob, 1);
    expect(bob.cancels(gone)).toBeNull();
    venue.restarts();
    venue.tick();
    expect(ended(venue)).toEqual(all.slice(DISCONNECT_CANCELS_PER_COMMAND, -1));
    venue.waits(1);
    expect([alice.openOrders(), bob.openOrders()]).toEqual([1, 1]);
    expect([alice.cancels(back), bob.cancels(later!)]).toEqual([null, null]);
  });

  test("version 2: what a session had when it was lost goes, also if the session ends before its turn", () => {
    const venue = new Venue({ version: 2, config: { maxOpenOrders: 5_000 } });
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 10_000);
    quotes(alice, DISCONNECT_CANCELS_PER_COMMAND);
    const bobs = quotes(bob, 2);
    sets(venue, bob, true);
    sets(venue, alice, true);
    venue.resumes(venue.now + 1_000);
    expect(bob.openOrders()).toBe(2);
    sets(venue, bob, false);
    const [later] = quotes(bob, 1);
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session: bob.session });
    expect(ended(venue)).toEqual([]);
    venue.tick();
    expect(ended(venue)).toEqual(bobs);
    bob.signsIn();
    expect(bob.cancels(later!)).toBeNull();
  });

  test("two sessions of one account: its orders go together, ascending, before the next account's", () => {
    const { venue, alice, bob, ids, bobs } = quoting();
    sets(venue, alice, true);
    sets(venue, bob, true);
    alice.signsIn();
    sets(venue, alice, true);
    const other = quotes(alice, 1);
    venue.resumes(venue.now + 1_000);
    expect(ended(venue)).toEqual([...ids, ...other, bobs]);
  });

  test("version 2: two starts in a row: nothing is listed twice", () => {
    const venue = new Venue({ version: 2, config: { maxOpenOrders: 5_000 } });
    const alice = venue.trader("alice", 10_000);
    const all = quotes(alice, DISCONNECT_CANCELS_PER_COMMAND + 10);
    sets(venue, alice, true);
    venue.resumes(venue.now + 1_000);
    venue.resumes(venue.now + 1_000);
    expect(ended(venue)).toEqual(all.slice(DISCONNECT_CANCELS_PER_COMMAND));
    expect(venue.tick().filter((event) => event.kind === "OrderEnded")).toEqual([]);
  });

  test("version 2: what is carried over is not traded against by the tick that cancels it", () => {
    const venue = new Venue({ version: 2, config: { maxOpenOrders: 5_000 } });
    const alice = venue.trader("alice", 10_000);
    const bob = venue.trader("bob", 10_000);
    quotes(alice, DISCONNECT_CANCELS_PER_COMMAND);
    const last = alice.buys("limit", { margin: 500, leverage: 1, price: 49_500 }).orderId;
    const stop = bob.sells("stop", { margin: 500, leverage: 1, price: 49_600 }).orderId;
    sets(venue, alice, true);
    venue.resumes(venue.now + 1_000);
    venue.index(49_600);
    venue.tick();
    expect(venue.happened("OrderEnded")).toMatchObject([
      { orderId: last, reason: END.disconnected },
      { orderId: stop, reason: END.book_empty },
    ]);
  });
});
