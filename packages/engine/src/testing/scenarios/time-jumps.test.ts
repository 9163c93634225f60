/** Time jumps: what writers ask for, who decides, and what becomes of a writer that does not answer. */
import { describe, expect, test } from "vitest";
import { liveWriters } from "../../reading.js";
import { WRITER_END } from "../../reasons.js";
import { Gateway } from "./gateways.js";
import { START_MS, Venue } from "./venue.js";

const HOUR_MS = 3_600_000;

/** A venue of that many writers; the first is its own. */
function writers(count: number): { venue: Venue; others: Gateway[] } {
  const venue = new Venue();
  const others = Array.from({ length: count - 1 }, (_, i) => new Gateway(venue, `other-${i}`));
  return { venue, others };
}

function jumps(venue: Venue): number[] {
  return venue.happened("TimeJumped").map(({ toMs }) => toMs - START_MS);
}

describe("a strict majority of the live writers", () => {
  for (const [count, needed] of [
    [1, 1],
    [2, 2],
    [3, 2],
    [5, 3],
  ] as const) {
    test(`of ${count}: ${needed} must ask, and all reach the time that is taken`, () => {
      const { venue, others } = writers(count);
      // The first asks for the most, each further one for a second less.
      const asks = Array.from({ length: needed }, (_, i) => 60_000 - i * 1_000);
      asks.forEach((ms, i) => {
        if (i === 0) venue.pauses(START_MS + ms);
        else others[i - 1]!.asks(START_MS + ms);
        expect(jumps(venue)).toEqual(i + 1 < needed ? [] : [asks.at(-1)]);
      });
      expect(venue.now - START_MS).toBe(asks.at(-1));
      expect(venue.engine.state.lastTickMs).toBe(venue.now);
    });
  }

  test("the greatest time that a majority reaches, of all asks that are kept", () => {
    const { venue, others } = writers(5);
    const [b, c, d] = others;
    b!.asks(START_MS + 2_000);
    c!.asks(START_MS + 90_000);
    expect(jumps(venue)).toEqual([]);
    d!.asks(START_MS + 40_000);
    // Two reach 40 s, three only 2 s.
    expect(jumps(venue)).toEqual([2_000]);
    // The others were forgotten with the jump.
    venue.pauses(START_MS + 90_000);
    b!.asks(START_MS + 90_000);
    expect(jumps(venue)).toEqual([]);
    c!.asks(START_MS + 80_123);
    expect(jumps(venue)).toEqual([80_123]);
    expect(venue.engine.state.lastTickMs - START_MS).toBe(80_000);
  });

  test("a writer's latest ask counts", () => {
    const { venue, others } = writers(3);
    others[0]!.asks(START_MS + 90_000);
    others[0]!.asks(START_MS + 5_000);
    others[1]!.asks(START_MS + 80_000);
    expect(jumps(venue)).toEqual([5_000]);
  });

  test("less than a second ahead of the last tick is no jump", () => {
    const venue = new Venue();
    venue.pauses(START_MS + 999);
    expect([jumps(venue), venue.engine.state.lastTickMs]).toEqual([[], START_MS]);
    venue.pauses(START_MS - HOUR_MS);
    expect(jumps(venue)).toEqual([]);
    venue.pauses(START_MS + 1_000);
    expect(jumps(venue)).toEqual([1_000]);
  });

  test("one that has ended is not counted any more", () => {
    const { venue, others } = writers(3);
    others[0]!.asks(START_MS + 30_000);
    others[1]!.leaves();
    expect(jumps(venue)).toEqual([]);
    venue.pauses(START_MS + 31_000);
    expect(jumps(venue)).toEqual([30_000]);
  });
});

describe("a jump", () => {
  test("every market waits for a fresh index, and nobody is disconnected", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const { session } = alice;
    const stampMs = venue.now;
    alice.buys("limit", { margin: 10, price: 49_000 });
    venue.apply({ kind: "SessionConnected", stampMs, session });
    venue.apply({ kind: "SetSessionOption", stampMs, session, cancelOnDisconnect: true });
    venue.pauses(START_MS + HOUR_MS);
    expect(venue.events).toEqual([
      { kind: "TimeJumped", fromMs: START_MS, toMs: START_MS + HOUR_MS },
    ]);
    expect(venue.market().awaitedIndexMs).toBe(START_MS + HOUR_MS);
    venue.tick();
    expect(alice.openOrders()).toBe(1);
    venue.index(50_000);
    expect(venue.market().awaitedIndexMs).toBe(0);
  });
});

describe("clocks that differ", () => {
  test("one that is an hour fast moves nothing alone", () => {
    const { venue, others } = writers(3);
    for (let second = 0; second < 20; second++) {
      others[0]!.asks(venue.now + HOUR_MS);
      for (let i = 0; i < 5; i++) venue.tick();
      others[1]!.sends();
    }
    expect(venue.now - START_MS).toBe(20_000);
    expect(liveWriters(venue.engine.state)).toHaveLength(3);
  });

  test("one that is slow, and ticks: the two others are counted together, whenever they ask", () => {
    const { venue, others } = writers(3);
    const [b, c] = others;
    // Each asks once a second, at another moment of it.
    b!.asks(venue.now + HOUR_MS);
    venue.tick();
    venue.tick();
    venue.restarts();
    c!.asks(venue.now + HOUR_MS);
    expect(jumps(venue)).toEqual([HOUR_MS]);
  });

  test("an ask is kept for ten accepted ticks", () => {
    for (const [ticks, expected] of [
      [10, [HOUR_MS]],
      [11, []],
    ] as const) {
      const { venue, others } = writers(3);
      others[0]!.asks(START_MS + HOUR_MS);
      for (let i = 0; i < ticks; i++) venue.tick();
      others[1]!.asks(START_MS + HOUR_MS);
      expect(jumps(venue)).toEqual(expected);
    }
  });

  test("an ask that ticks have reached is over", () => {
    const { venue, others } = writers(3);
    others[0]!.asks(START_MS + 1_000);
    venue.waits(1);
    others[1]!.asks(START_MS + HOUR_MS);
    expect(liveWriters(venue.engine.state).map(({ askMs }) => askMs)).toEqual([
      0,
      0,
      START_MS + HOUR_MS,
    ]);
  });
});

describe("a writer without a batch across five asks of another", () => {
  test("is gone, and the others decide", () => {
    const { venue, others } = writers(2);
    const silent = liveWriters(venue.engine.state)[0]!.number;
    const [b] = others;
    for (let second = 1; second <= 4; second++) {
      b!.asks(START_MS + HOUR_MS + second * 1_000);
      expect(venue.events).toEqual([]);
    }
    venue.restarts();
    b!.asks(START_MS + HOUR_MS + 5_000);
    expect(venue.events).toEqual([
      { kind: "WriterEnded", writer: silent, reason: WRITER_END.gone },
      { kind: "TimeJumped", fromMs: START_MS, toMs: START_MS + HOUR_MS + 5_000 },
    ]);
  });

  test("a batch of its own begins the count again; asks of several are counted apart", () => {
    const { venue, others } = writers(4);
    const [b, c, silent] = others;
    for (let i = 0; i < 4; i++) {
      b!.asks(START_MS + HOUR_MS);
      c!.sends();
      venue.apply({ kind: "CloseSession", stampMs: venue.now, session: 999 });
    }
    for (let i = 0; i < 4; i++) {
      c!.asks(START_MS + 500);
      b!.sends();
      venue.apply({ kind: "CloseSession", stampMs: venue.now, session: 999 });
    }
    expect(liveWriters(venue.engine.state)).toHaveLength(4);
    silent!.sends();
    for (let i = 0; i < 4; i++) b!.asks(START_MS + 500);
    expect(silent!.isLive).toBe(true);
    b!.asks(START_MS + 500);
    expect(silent!.isLive).toBe(false);
  });
});
