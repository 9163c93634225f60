/** Writers of the log: which batches are applied, who is live, and what a writer's end means. */
import { describe, expect, test } from "vitest";
import { type Command, GENESIS_WRITER } from "../../commands.js";
import { Engine } from "../../engine.js";
import { liveWriters, writerOf } from "../../reading.js";
import { WRITER_END } from "../../reasons.js";
import { ENGINE_VERSION, RULE_SETS } from "../../versions.js";
import { genesis } from "../commands.js";
import { joining, writerId } from "../sole-writer.js";
import { Gateway, writes } from "./gateways.js";
import { BTC, venueConfig } from "./listing.js";
import { START_MS, Venue } from "./venue.js";

const { replaced, left, gone } = WRITER_END;
const NEW_ID = "f".repeat(32);

function ends(venue: Venue): [number, number][] {
  return venue.happened("WriterEnded").map(({ writer, reason }) => [writer, reason]);
}

function nextTick(venue: Venue): Command {
  return { kind: "Tick", slot: venue.engine.state.lastTickMs / 200 + 1 };
}

describe("batches", () => {
  test("each counter of a live writer once and in order; what is dropped changes nothing", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const b = new Gateway(venue, "b");
    const order = alice.order(1, "limit", { margin: 10, price: 49_000 });
    const before = venue.engine.snapshot();
    expect(writes(venue, b.id, 2, [order])).toBe("counter_gap");
    expect(writes(venue, b.id, 0, [order])).toBe("counter_passed");
    expect(writes(venue, NEW_ID, 1, [order])).toBe("writer_unknown");
    expect(venue.engine.snapshot()).toEqual(before);
    expect(b.sends(order)).toBeNull();
    expect(writes(venue, b.id, 1, [order])).toBe("counter_passed");
    expect(alice.openOrders()).toBe(1);
    expect(b.sends()).toBeNull();
    expect(writerOf(venue.engine.state, b.id)?.counter).toBe(2);
  });

  test("Genesis is a batch of its own writer, who never writes again", () => {
    const engine = new Engine();
    const config = venueConfig([BTC]);
    const begins = genesis(START_MS, config);
    const none = genesis(START_MS, { ...config, markets: [] });
    const join = joining(NEW_ID, "a", START_MS);
    expect(engine.acceptBatch(NEW_ID, 0, [join])).toBe("not_started");
    expect(engine.acceptBatch(NEW_ID, 0, [begins])).toBe("not_started");
    expect(engine.acceptBatch(GENESIS_WRITER, 1, [begins])).toBe("not_started");
    expect(engine.acceptBatch(GENESIS_WRITER, 0, [{ kind: "Tick", slot: 1 }, begins])).toBe(
      "not_started",
    );
    // A Genesis that is refused begins nothing: another may follow.
    expect(engine.acceptBatch(GENESIS_WRITER, 0, [none])).toBeNull();
    engine.apply(none);
    expect(engine.acceptBatch(GENESIS_WRITER, 0, [begins])).toBeNull();
    engine.apply(begins);
    expect(engine.acceptBatch(GENESIS_WRITER, 0, [begins])).toBe("already_started");
    expect(engine.acceptBatch(GENESIS_WRITER, 1, [])).toBe("already_started");
    expect(engine.acceptBatch(NEW_ID, 0, [join])).toBeNull();
  });

  test("of the ticks of a batch the first is applied, also if it is ignored", () => {
    const venue = new Venue();
    const b = new Gateway(venue, "b");
    const slot = venue.engine.state.lastTickMs / 200;
    b.sends({ kind: "Tick", slot: slot + 1 }, { kind: "Tick", slot: slot + 2 });
    expect(venue.engine.state.lastTickMs / 200).toBe(slot + 1);
    b.sends({ kind: "Tick", slot }, { kind: "Tick", slot: slot + 2 });
    expect(venue.engine.state.lastTickMs / 200).toBe(slot + 1);
    b.sends({ kind: "Tick", slot: slot + 2 });
    expect(venue.engine.state.lastTickMs / 200).toBe(slot + 2);
  });
});

describe("joins", () => {
  test("the first batch is exactly the join, under the batch's own id", () => {
    const venue = new Venue();
    const join = joining(NEW_ID, "b", venue.now);
    const wrong = [[], [join, join], [nextTick(venue)], [{ ...join, writer: writerId(77) }]];
    for (const commands of wrong) {
      expect(writes(venue, NEW_ID, 0, commands)).toBe("not_a_join");
    }
    expect(writes(venue, "no id", 0, [{ ...join, writer: "no id" }])).toBe("not_a_join");
    expect(writes(venue, NEW_ID, 0, [join])).toBeNull();
    const number = venue.engine.seq;
    expect(venue.events).toEqual([{ kind: "WriterJoined", writer: number, writers: 2 }]);
    const { state } = venue.engine;
    expect(liveWriters(state).map(({ name }) => name)).toEqual(["gateway", "b"]);
    expect(writerOf(state, NEW_ID)).toMatchObject({ number, name: "b", counter: 0, sessions: 0 });
  });

  test("under the name of a live writer: that one is replaced, and can never write again", () => {
    const venue = new Venue();
    const b = new Gateway(venue, "b");
    const c = new Gateway(venue, "c");
    const [old, number, counter] = [b.id, writerOf(venue.engine.state, b.id)!.number, b.counter];
    expect(b.joins()).toBeNull();
    expect(ends(venue)).toEqual([[number, replaced]]);
    expect(venue.happened("WriterJoined")).toMatchObject([{ writers: 3 }]);
    // It is the last by joining now.
    expect(liveWriters(venue.engine.state).slice(1)).toMatchObject([{ id: c.id }, { id: b.id }]);
    // A batch of it that comes late, and a join that is sent once more.
    expect(writes(venue, old, counter + 1, [nextTick(venue)])).toBe("writer_ended");
    expect(writes(venue, old, 0, [joining(old, "b", venue.now)])).toBe("writer_ended");
    expect(writes(venue, old, 0, [joining(old, "d", venue.now)])).toBe("writer_ended");
    venue.restarts();
    expect(writes(venue, old, 0, [joining(old, "b", venue.now)])).toBe("writer_ended");
    expect(b.sends()).toBeNull();
  });

  test("within another batch, or malformed: refused, and its id is used", () => {
    const venue = new Venue();
    const b = new Gateway(venue, "b");
    b.sends(joining(NEW_ID, "c", venue.now));
    expect(venue.refusal).toBe("invalid_command");
    const join = joining(NEW_ID, "c", venue.now);
    const wrong = [
      { name: "" },
      { name: "C" },
      { name: "c d" },
      { name: "c".repeat(65) },
      { versions: [2, 1] },
      { versions: [-1, 1] },
      { versions: [1, 1.5] },
      { receiptKey: "ab" },
      { receiptKey: "AB".repeat(32) },
      { certificate: "ab".repeat(32) },
    ] as const;
    wrong.forEach((fields, i) => {
      const writer = writerId(1_000 + i);
      expect(writes(venue, writer, 0, [{ ...join, writer, ...fields }])).toBeNull();
      expect(venue.refusal).toBe("invalid_command");
      expect(writes(venue, writer, 1, [])).toBe("writer_ended");
    });
    expect(liveWriters(venue.engine.state).length).toBe(2);
    const keys = { receiptKey: "ab".repeat(32), certificate: "cd".repeat(64) };
    expect(writes(venue, NEW_ID, 0, [{ ...join, ...keys, name: "c".repeat(64) }])).toBeNull();
    expect(writerOf(venue.engine.state, NEW_ID)).toMatchObject(keys);
  });

  test("64 are live at most; one that was refused does not come in later", () => {
    const venue = new Venue();
    const others = Array.from({ length: 63 }, (_, i) => new Gateway(venue, `other-${i}`));
    expect(venue.happened("WriterJoined")).toMatchObject([{ writers: 64 }]);
    const late = new Gateway(venue, "late");
    expect(venue.refusal).toBe("too_many_writers");
    // A name that is live takes the place of its writer.
    others[5]!.joins();
    expect(venue.happened("WriterJoined")).toMatchObject([{ writers: 64 }]);
    const session = venue.trader("alice").session;
    others.at(-1)!.connects(session);
    expect(writerOf(venue.engine.state, others.at(-1)!.id)?.sessions).toBe(1);
    const snapshot = venue.engine.snapshot();
    expect(Engine.restore(snapshot).snapshot()).toEqual(snapshot);
    others[0]!.leaves();
    expect(writes(venue, late.id, 0, [joining(late.id, "late", venue.now)])).toBe("writer_ended");
    late.joins();
    expect(late.isLive).toBe(true);
  });

  test("one that finds no other is a start: nothing happens to anybody before a fresh index", () => {
    const venue = new Venue();
    const isWaiting = (): boolean => venue.market().awaitedIndexMs !== 0;
    const b = new Gateway(venue, "b");
    expect(isWaiting()).toBe(false);
    b.leaves();
    // The same gateway again, while it is the only one.
    venue.resumes(venue.now);
    expect(isWaiting()).toBe(true);
    venue.tick();
    venue.index(50_000);
    expect(isWaiting()).toBe(false);
  });
});

describe("a writer's end", () => {
  test("gone: with the 25th accepted tick in a row before which it sent no batch", () => {
    const venue = new Venue();
    const b = new Gateway(venue, "b");
    const { number } = writerOf(venue.engine.state, b.id)!;
    venue.waits(4);
    b.sends();
    // One tick follows its batch; ticks that are ignored do not count.
    venue.tick();
    for (let i = 0; i < 24; i++) {
      venue.apply({ kind: "Tick", slot: 1 });
      venue.tick();
      expect(ends(venue)).toEqual([]);
    }
    expect(writerOf(venue.engine.state, b.id)?.ticksMissed).toBe(24);
    venue.restarts();
    venue.tick();
    expect(ends(venue)).toEqual([[number, gone]]);
    expect(b.sends()).toBe("writer_ended");
    b.joins();
    expect(b.isLive).toBe(true);
  });

  test("a heartbeat keeps it, and so does the batch that carries the tick", () => {
    const venue = new Venue();
    const b = new Gateway(venue, "b");
    const first = liveWriters(venue.engine.state)[0]!.number;
    for (let i = 0; i < 100; i++) {
      if (i % 25 === 0) b.sends();
      venue.tick();
    }
    expect(b.isLive).toBe(true);
    // Now the other one ticks alone.
    for (let i = 0; i < 24; i++) b.sends(nextTick(venue));
    expect(ends(venue)).toEqual([]);
    b.sends(nextTick(venue));
    expect(ends(venue)).toEqual([[first, gone]]);
    for (let i = 0; i < 60; i++) b.sends(nextTick(venue));
    expect(b.isLive).toBe(true);
  });

  test("left: the rest of its batch is applied without it, and nothing follows", () => {
    const venue = new Venue();
    const alice = venue.trader("alice", 1_000);
    const b = new Gateway(venue, "b");
    const { number } = writerOf(venue.engine.state, b.id)!;
    const stampMs = venue.now;
    b.sends(
      { kind: "WriterLeft", stampMs },
      alice.order(1, "limit", { margin: 10, price: 49_000 }),
      { kind: "SessionConnected", stampMs, session: alice.session },
      { kind: "AskTime", stampMs },
      { kind: "WriterLeft", stampMs },
      { kind: "SessionDisconnected", stampMs, session: alice.session },
      joining(b.id, "b", stampMs),
    );
    expect(ends(venue)).toEqual([[number, left]]);
    expect(alice.openOrders()).toBe(1);
    const refusals = venue.happened("CommandRefused").map(({ refusal }) => refusal);
    expect(refusals).toHaveLength(4);
    expect(b.sends()).toBe("writer_ended");
  });

  test("before anybody has joined there is nobody to leave, to ask or to be connected at", () => {
    const engine = new Engine();
    engine.apply(genesis(START_MS, venueConfig([BTC])));
    for (const kind of ["WriterLeft", "AskTime"] as const) {
      const events = engine.apply({ kind, stampMs: START_MS }).decode();
      expect(events).toMatchObject([{ kind: "CommandRefused" }]);
    }
  });
});

describe("upgrades", () => {
  function upgrade(venue: Venue, version: number): string | null {
    return venue.operates({ kind: "Upgrade", version });
  }

  test("refused while a live writer cannot read the version, also by releases that can", () => {
    const next = { ...RULE_SETS.at(-1)!, version: ENGINE_VERSION + 1 };
    for (const known of [RULE_SETS, [...RULE_SETS, next]]) {
      const venue = new Venue();
      venue.engine = Engine.restore(venue.engine.snapshot(), known);
      const number = liveWriters(venue.engine.state)[0]!.number;
      expect(upgrade(venue, next.version)).toBe("writer_lacks_version");
      expect(venue.happened("CommandRefused")).toMatchObject([{ detail1: number }]);
      expect(upgrade(venue, ENGINE_VERSION)).toBe("version_not_next");
    }
  });

  test("to a version before all that a live writer can read: refused, and the process goes on", () => {
    expect(upgrade(new Venue(), RULE_SETS[0]!.version - 1)).toBe("writer_lacks_version");
  });

  test("executed once all can read it", () => {
    const next = { ...RULE_SETS.at(-1)!, version: ENGINE_VERSION + 1 };
    const venue = new Venue();
    venue.engine = Engine.restore(venue.engine.snapshot(), [...RULE_SETS, next]);
    const join = joining(NEW_ID, "gateway", venue.now);
    const versions = [ENGINE_VERSION, next.version] as const;
    writes(venue, NEW_ID, 0, [{ ...join, versions }]);
    const { version } = next;
    const times = { stampMs: venue.now, expiresAtMs: venue.now + 1_000 };
    const old = new Gateway(venue, "old");
    writes(venue, NEW_ID, 1, [{ kind: "Upgrade", ...times, version }]);
    expect(venue.refusal).toBe("writer_lacks_version");
    old.leaves();
    writes(venue, NEW_ID, 2, [{ kind: "Upgrade", ...times, version }]);
    expect(venue.events).toEqual([{ kind: "EngineUpgraded", version }]);
  });
});
