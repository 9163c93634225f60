/**
 * The reference by hand: time, blocks, sessions, nonces, stops and timers.
 */
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "../../config.js";
import { EVENT_FIELDS } from "../../events/event-table.js";
import { END, REFUSAL } from "../../reasons.js";
import { batches } from "../flow/flow.js";
import { applyBatch } from "../flow/log-batch.js";
import { Bench, eventsOf, only } from "./test-venue.js";
import { ReferenceVenue } from "./venue.js";

const START = 100 * HOUR_MS;

describe("time", () => {
  test("follows stamps up to a second ahead of the last tick, and never goes back", () => {
    const bench = new Bench(100);
    const cancelAll = (stampMs: number): number => {
      bench.apply({ kind: "CancelAll", stampMs, session: 999, market: -1 });
      return bench.now - START;
    };
    expect(cancelAll(START + 700)).toBe(700); // refused commands move time too
    expect(cancelAll(START + 5_000)).toBe(1_000);
    expect(cancelAll(START)).toBe(1_000);
    expect(bench.apply({ kind: "Tick", slot: START / 200 })).toEqual([]);
    expect(bench.apply({ kind: "Tick", slot: START / 200 + 6 })).toEqual([]);
    expect(bench.apply({ kind: "Tick", slot: START / 200 + 2 })).not.toEqual([]);
    expect(bench.venue.state.lastTick - START).toBe(400);
    expect(bench.now - START).toBe(1_000);
  });

  test("a block is sealed only if something but ticks was executed", () => {
    const bench = new Bench(100);
    // Genesis, the writer's join and UpdateIndex took positions 1 to 3.
    expect(only(bench.tick(), "BlockSealed")).toEqual({
      kind: "BlockSealed",
      number: 1,
      firstPosition: 1,
      lastPosition: 4,
      ackCount: 0,
      timeMs: START + 200,
    });
    expect(bench.tick()).toEqual([]);
    bench.apply({ kind: "CancelAll", stampMs: bench.now, session: 999, market: -1 });
    expect(bench.tick()).toEqual([]);
    bench.bid("ann", 100, { margin: 100 });
    // Positions 5 and 7 were ticks, 6 was refused, 8 the sign-in, 9 the order, 10 this tick.
    expect(only(bench.tick(), "BlockSealed")).toMatchObject({
      number: 2,
      firstPosition: 5,
      lastPosition: 10,
      ackCount: 1,
    });
  });
});

describe("nonces", () => {
  test("a remembered one is answered again, whatever the key; one below the window is refused", () => {
    const bench = new Bench(100);
    const first = only(bench.bid("ann", 100, { margin: 100 }), "OrderAcknowledged");
    const again = bench.order("ann", { nonce: first.nonce, key: "forged" });
    expect(again).toEqual([
      {
        kind: "OrderReplayed",
        session: bench.session("ann"),
        nonce: first.nonce,
        orderId: first.orderId,
      },
    ]);
    for (let nonce = 1_001; nonce <= 1_000 + 1_024; nonce++) {
      bench.order("ann", { nonce, marginMicros: 100 });
    }
    expect(only(bench.order("ann", { nonce: first.nonce }), "CommandRefused")).toMatchObject({
      refusal: REFUSAL.nonce_too_old,
      detail1: 1_001,
    });
  });
});

describe("checks", () => {
  test("insufficient margin names the largest margin that passes", () => {
    const bench = new Bench(100, { devCreditMicros: 1_000 });
    // m + ⌈m × 50 × 0.05 %⌉ = m × 1.025 ≤ 1,000: m = 975 (975 + 25); 976 + 25 is too much.
    const refused = bench.bid("ann", 100, { margin: 976, leverage: 50 });
    expect(only(refused, "CommandRefused")).toMatchObject({
      refusal: REFUSAL.insufficient_margin,
      detail1: 975,
    });
    expect(only(bench.bid("ann", 100, { margin: 975, leverage: 50 }), "OrderRested")).toBeDefined();
  });

  test("the band, the tier and the top tier are named", () => {
    const bench = new Bench(1_000);
    const band = only(bench.bid("ann", 1_051, { margin: 9_999 }), "CommandRefused");
    expect([band.refusal, band.detail1, band.detail2]).toEqual([
      REFUSAL.price_outside_band,
      1_000,
      50,
    ]);
    // 21,000 × 50 = 1,050,000 is in the second tier: 25×.
    const tier = only(bench.buy("ann", { margin: 21_000, leverage: 50 }), "CommandRefused");
    expect([tier.refusal, tier.detail1]).toEqual([REFUSAL.leverage_above_tier, 25]);
    // ⌊20,000,000/1,000⌋ = 20,000 lots at most.
    const top = only(bench.buy("ann", { margin: 20_001_000, leverage: 1 }), "CommandRefused");
    expect([top.refusal, top.detail1]).toEqual([REFUSAL.position_limit, 20_000]);
  });
});

describe("stops and timers", () => {
  test("a stop triggers on the mark, takes its kept lots, and tells what it could not fill", () => {
    const bench = new Bench(100);
    bench.ask("bob", 103, { margin: 3_090 }); // 30 lots
    // ⌊4,080/102⌋ = 40 lots; it reserves nothing.
    bench.buyStop("ann", 102, { margin: 4_080 });
    expect(bench.wallet("ann")).toBe(1_000_000n);
    expect(eventsOf(bench.tick(), "StopTriggered")).toEqual([]);
    bench.index(102);
    const events = bench.tick();
    expect(only(events, "StopTriggered").account).toBe(bench.account("ann"));
    const ended = eventsOf(events, "OrderEnded").map((each) => [each.reason, each.remainingLots]);
    expect(ended).toEqual([
      [END.none, 0],
      [END.book_empty, 10],
    ]);
    // 30 at 103, one tick of loss each: 3,090 + 30; fee ⌈1.545⌉ = 2.
    expect(bench.position("ann")).toMatchObject({ lots: 30n, cost: 3_090n, margin: 3_120n });
    expect(bench.wallet("ann")).toBe(996_878n);
  });

  test("the dead-man's switch cancels everything once", () => {
    const bench = new Bench(100);
    bench.bid("ann", 100, { margin: 100 });
    const session = bench.session("ann");
    bench.apply({ kind: "CancelAfter", stampMs: bench.now, session, afterMs: 1_000 });
    for (let at = 0; at < 4; at++) expect(eventsOf(bench.tick(), "CancelAfterFired")).toEqual([]);
    const events = bench.tick();
    expect(only(events, "CancelAfterFired").account).toBe(1);
    expect(only(events, "OrderEnded").reason).toBe(END.cancel_after);
    expect(eventsOf(bench.tick(), "CancelAfterFired")).toEqual([]);
  });

  test("an expired session is refused immediately and closed by the next tick", () => {
    const bench = new Bench(100);
    const session = bench.session("ann");
    bench.apply({ kind: "AskTime", stampMs: START + 24 * HOUR_MS });
    const refused = bench.apply({ kind: "CloseSession", stampMs: bench.now, session });
    expect(only(refused, "CommandRefused").refusal).toBe(REFUSAL.session_expired);
    expect(only(bench.tick(), "SessionClosed")).toMatchObject({ session, expired: 1 });
  });
});

test("events carry exactly the fields of the table, in its order", () => {
  const venue = new ReferenceVenue();
  for (const batch of batches("thinFund", 3, 3_000, venue)) {
    applyBatch(venue, batch, (_command, events) => {
      for (const event of events) {
        expect(Object.keys(event)).toEqual(["kind", ...EVENT_FIELDS[event.kind]]);
      }
    });
  }
});
