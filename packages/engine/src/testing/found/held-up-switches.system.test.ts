/**
 * Found in a trial of version 2: dead-man's switches were served whole, one account after the other, and
 * a tick began none after 1,024 cancels. Sixty accounts with a thousand stops each, whose switches are due
 * a moment before another one, held that one up for 12 s, in which its orders were filled.
 */
import { describe, expect, test } from "vitest";
import { END } from "../../reasons.js";
import { LightVenue } from "../rules/light-venue.js";
import type { Trader } from "../scenarios/trader.js";

const ACCOUNTS = 60;
const TICK_MS = 200;

interface Scene {
  readonly venue: LightVenue;
  readonly honest: Trader;
  readonly quote: number;
}

/** All switches are due with the same tick, the honest one last. */
function dueTogether(version: number, orders = 1_030): Scene {
  const venue = new LightVenue({ version, config: { maxOpenOrders: 5_000 } });
  const arms = ({ session }: Trader, afterMs: number): void => {
    venue.apply({ kind: "CancelAfter", stampMs: venue.now, session, afterMs });
  };
  for (let i = 0; i < ACCOUNTS; i++) {
    const trader = venue.trader(`crowd ${i}`, 20_000);
    const stop = { size: 0.001, leverage: 1, price: 60_000 };
    for (let k = 0; k < orders; k++) expect(trader.buys("stop", stop).status).toBe("pending");
    arms(trader, 1_001);
  }
  const honest = venue.trader("honest", 20_000);
  const quote = honest.buys("limit", { size: 0.01, leverage: 1, price: 49_000 }).orderId;
  arms(honest, 1_002);
  return { venue, honest, quote };
}

/** Ticks until the order has ended; the first one at or after its switch counts as 0. */
function ticksUntilEnded({ venue, quote }: Scene): number {
  const dueMs = venue.now + 1_002;
  for (;;) {
    venue.tick();
    const ended = venue.happened("OrderEnded").find(({ orderId }) => orderId === quote);
    if (ended !== undefined) {
      expect(ended.reason).toBe(END.cancel_after);
      return Math.floor((venue.now - dueMs) / TICK_MS);
    }
    expect(venue.now).toBeLessThan(dueMs + 20_000);
  }
}

describe("a dead-man's switch behind sixty others with a thousand orders each", () => {
  test("before, version 2: 12 s late", () => {
    expect(ticksUntilEnded(dueTogether(2))).toBe(ACCOUNTS);
  });

  test("after, version 3: its orders end with the tick that it is due at", () => {
    expect(ticksUntilEnded(dueTogether(3))).toBe(0);
  });

  test("after: the others go on in turns of 20 orders, a snapshot in between changes nothing", () => {
    const scene = dueTogether(3, 100);
    const { venue } = scene;
    ticksUntilEnded(scene);
    const left = venue.engine.state.ends;
    expect([left.fresh.length, left.again.length]).toEqual([0, ACCOUNTS]);
    const perTick: number[] = [];
    while (venue.engine.state.orders.open > 0) {
      venue.restarts();
      venue.tick();
      const ends = venue.happened("OrderEnded");
      perTick.push(ends.length);
      const counts = new Map<number, number>();
      for (const { account } of ends) counts.set(account, (counts.get(account) ?? 0) + 1);
      // No account is two turns ahead of another one.
      expect(Math.max(...counts.values()) - Math.min(...counts.values())).toBeLessThanOrEqual(20);
    }
    // 2,048 and what was left of the last turn; the first tick ended as many.
    expect(perTick).toEqual([2_060, 1_880]);
    venue.tick();
    expect(venue.engine.state.ends.isEmpty).toBe(true);
  });
});

/** As many switches as a tick fires are due before the honest one, with the same tick. */
function notFired(): Scene {
  const venue = new LightVenue();
  const { state } = venue.engine;
  const honest = venue.trader("honest", 20_000);
  const quote = honest.buys("limit", { size: 0.01, leverage: 1, price: 49_000 }).orderId;
  const others = Array.from({ length: 4_096 }, (_, i) => venue.trader(`other ${i}`));
  const stampMs = venue.now;
  for (const { session } of others) {
    venue.apply({ kind: "CancelAfter", stampMs, session, afterMs: 1_001 });
  }
  venue.apply({ kind: "CancelAfter", stampMs, session: honest.session, afterMs: 1_002 });
  const dueMs = state.cancelAtMs(1);
  while (state.lastTickMs < dueMs) venue.tick();
  expect(venue.happened("CancelAfterFired")).toHaveLength(4_096);
  expect(honest.openOrders()).toBe(1);
  return { venue, honest, quote };
}

describe("an order whose switch is due is not filled, however many others are due", () => {
  test("not by a taker before its turn", () => {
    const { venue, honest } = notFired();
    const taker = venue.trader("taker", 20_000);
    const answer = taker.sells("market", { size: 0.01, leverage: 1 });
    expect(answer).toMatchObject({ filled: 0, reason: "book_empty" });
    expect(honest.openOrders()).toBe(0);
  });

  test("it is not amendable, and an order placed after it stays: placing one fires the switch", () => {
    const { venue, honest, quote } = notFired();
    expect(honest.amends(quote, { price: 49_100 }).reason).toBe("order_not_amendable");
    const later = honest.buys("limit", { size: 0.01, leverage: 1, price: 49_000 });
    expect(venue.happened("CancelAfterFired")).toHaveLength(1);
    expect(later.status).toBe("resting");
    venue.restarts();
    venue.tick();
    expect(venue.happened("OrderEnded").map(({ orderId }) => orderId)).toEqual([quote]);
    expect(honest.openOrders()).toBe(1);
  });
});
