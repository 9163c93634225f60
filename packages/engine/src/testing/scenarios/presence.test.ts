/** Presence: where a session is connected, and when its orders end for want of a connection. */
import { describe, expect, test } from "vitest";
import { END } from "../../reasons.js";
import { isConnected, writerOf } from "../../writers/reading.js";
import { SABOTAGES, strikeAt } from "../faults/sabotage.js";
import { Gateway } from "./gateways.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Alice quotes, and wants her orders canceled; two gateways next to the one that ticks. */
function scene(): { venue: Venue; alice: Trader; a: Gateway; b: Gateway; ids: number[] } {
  const venue = new Venue();
  const alice = venue.trader("alice", 10_000);
  const ids = [quote(alice), quote(alice)];
  sets(venue, alice, true);
  return { venue, alice, a: new Gateway(venue, "a"), b: new Gateway(venue, "b"), ids };
}

function quote(trader: Trader): number {
  return trader.buys("limit", { margin: 10, price: 49_000 }).orderId;
}

function sets(venue: Venue, { session }: Trader, cancelOnDisconnect: boolean): void {
  venue.apply({ kind: "SetSessionOption", stampMs: venue.now, session, cancelOnDisconnect });
}

function ended(venue: Venue): number[] {
  const events = venue.happened("OrderEnded");
  expect(events.filter(({ reason }) => reason !== END.disconnected)).toEqual([]);
  return events.map(({ orderId }) => orderId);
}

describe("a session with sockets at two gateways", () => {
  test("keeps its orders while it has one of them", () => {
    const { venue, alice, a, b, ids } = scene();
    const { session } = alice;
    a.connects(session);
    b.connects(session);
    a.disconnects(session);
    expect(venue.events).toEqual([]);
    expect(isConnected(venue.engine.state, session)).toBe(true);
    b.disconnects(session);
    expect(ended(venue)).toEqual(ids);
    expect(venue.events.at(-1)).toEqual({ kind: "AllCanceled", account: alice.account, count: 2 });
    expect(isConnected(venue.engine.state, session)).toBe(false);
  });

  test("moves between them a thousand times: no order is canceled", () => {
    const { alice, a, b, venue } = scene();
    a.connects(alice.session);
    for (let i = 0; i < 1_000; i++) {
      const [from, to] = i % 2 === 0 ? [a, b] : [b, a];
      to.connects(alice.session);
      from.disconnects(alice.session);
    }
    expect(alice.openOrders()).toBe(2);
    expect(isConnected(venue.engine.state, alice.session)).toBe(true);
  });

  test("a disconnect where it is not connected, or a second one, changes nothing", () => {
    const { venue, alice, a, b } = scene();
    a.connects(alice.session);
    a.connects(alice.session);
    b.disconnects(alice.session);
    expect(venue.events).toEqual([]);
    a.disconnects(alice.session);
    expect(ended(venue)).toHaveLength(2);
    quote(alice);
    a.disconnects(alice.session);
    expect([venue.events, alice.openOrders()]).toEqual([[], 1]);
  });
});

describe("the end of a gateway that a session is connected at", () => {
  for (const how of ["leaves", "joins again", "is gone"] as const) {
    const end = (venue: Venue, gateway: Gateway, other: Gateway): void => {
      if (how === "leaves") gateway.leaves();
      if (how === "joins again") gateway.joins();
      if (how !== "is gone") return;
      for (let i = 0; i < 26; i++) {
        other.sends();
        venue.tick();
      }
    };

    test(`it ${how}: canceled, if there is no other socket`, () => {
      const { venue, alice, a, b, ids } = scene();
      const [before] = [venue.engine.state];
      a.connects(alice.session);
      end(venue, a, b);
      expect(ended(venue)).toEqual(ids);
      expect(isConnected(before, alice.session)).toBe(false);
      const later = quote(alice);
      venue.waits(1);
      expect(alice.cancels(later)).toBeNull();
    });

    test(`it ${how}: kept, if there is one, until that is gone too`, () => {
      const { venue, alice, a, b, ids } = scene();
      a.connects(alice.session);
      b.connects(alice.session);
      venue.restarts();
      end(venue, a, b);
      expect(ended(venue)).toEqual([]);
      b.leaves();
      expect(ended(venue)).toEqual(ids);
    });
  }

  test("two that are gone in one tick leave nobody connected", () => {
    const { venue, alice, a, b, ids } = scene();
    a.connects(alice.session);
    b.connects(alice.session);
    b.sends();
    venue.tick();
    for (let i = 0; i < 24; i++) {
      venue.tick();
      expect(ended(venue)).toEqual([]);
    }
    venue.tick();
    expect(ended(venue)).toEqual(ids);
    expect(venue.happened("WriterEnded")).toHaveLength(2);
  });

  test("its place is free again, and nobody is taken for connected there", () => {
    const { venue, alice, a, b } = scene();
    const bob = venue.trader("bob", 100);
    a.connects(bob.session);
    b.connects(alice.session);
    a.leaves();
    const c = new Gateway(venue, "c");
    expect(writerOf(venue.engine.state, c.id)?.sessions).toBe(0);
    expect(isConnected(venue.engine.state, bob.session)).toBe(false);
    c.connects(bob.session);
    expect(writerOf(venue.engine.state, c.id)?.sessions).toBe(1);
  });

  test("without the option nothing is canceled", () => {
    const { venue, alice, a } = scene();
    sets(venue, alice, false);
    a.connects(alice.session);
    a.leaves();
    expect([ended(venue), alice.openOrders()]).toEqual([[], 2]);
  });

  test("a fault among the cancels: the market halts, and the writer still ends once", () => {
    const { venue, alice, a, ids } = scene();
    a.connects(alice.session);
    const overflow = SABOTAGES.find((each) => each.name === "an overflow in Ladder.remove")!;
    strikeAt(overflow, 2, () => a.leaves());
    expect(venue.events[0]).toMatchObject({ kind: "MarketHalted", market: 0 });
    expect(ended(venue)).toEqual(ids);
    expect(venue.happened("WriterEnded")).toHaveLength(1);
    expect([a.isLive, isConnected(venue.engine.state, alice.session)]).toEqual([false, false]);
  });

  test("a fault in the tick that finds it gone: the same", () => {
    const { venue, alice, a, b } = scene();
    a.connects(alice.session);
    for (let i = 0; i < 25; i++) {
      b.sends();
      venue.tick();
    }
    expect(a.isLive).toBe(true);
    const overflow = SABOTAGES.find((each) => each.name === "an overflow in Ladder.remove")!;
    strikeAt(overflow, 1, () => void venue.tick());
    expect(venue.happened("MarketHalted")).toHaveLength(1);
    expect(venue.happened("WriterEnded")).toHaveLength(1);
    expect([a.isLive, alice.openOrders()]).toEqual([false, 0]);
  });
});

describe("the option and the session", () => {
  test("turned on without a connection: nothing until the next disconnect", () => {
    const { venue, alice, a, b } = scene();
    b.leaves();
    venue.waits(1);
    expect(alice.openOrders()).toBe(2);
    a.connects(alice.session);
    a.disconnects(alice.session);
    expect(ended(venue)).toHaveLength(2);
  });

  test("an unknown, expired or closed session is connected nowhere", () => {
    const { venue, alice, a } = scene();
    a.connects(9_999);
    expect(venue.refusal).toBe("session_unknown");
    a.connects(alice.session);
    venue.apply({ kind: "CloseSession", stampMs: venue.now, session: alice.session });
    expect(writerOf(venue.engine.state, a.id)?.sessions).toBe(0);
    a.disconnects(alice.session);
    expect(venue.events).toEqual([]);
    const bob = venue.trader("bob", 100);
    a.connects(bob.session);
    venue.pauses(venue.now + 86_400_000);
    a.connects(bob.session);
    // The other gateways did not ask: there was no jump.
    expect(venue.refusal).toBeNull();
  });

  test("an expired session that the next tick closes is refused", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 100);
    venue.pauses(venue.now + 86_400_000);
    venue.apply({ kind: "SessionConnected", stampMs: venue.now, session: alice.session });
    expect(venue.refusal).toBe("session_expired");
  });
});
