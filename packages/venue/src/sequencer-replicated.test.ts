/** The sequencer on a log of several writers, in simulated time. */
import {
  type Command,
  ENGINE_VERSION,
  GENESIS_WRITER,
  MAX_LIVE_WRITERS,
  type WriterJoined,
} from "@perpgate/engine";
import { liveWriters } from "@perpgate/engine/reading";
import { type Batch, type BatchId, LOG_START } from "@perpgate/journal";
import { expect, test } from "vitest";
import { venueConfigOf } from "./listing/venue-config.js";
import type { Machine } from "./machine.js";
import { encodeRecord, NO_EVIDENCE } from "./record/record.js";
import { Replica } from "./replica.js";
import { type SequencedLog, Sequencer, type WriterLoss } from "./sequencer.js";
import { START_MS, TEST_MARKETS } from "./testing/test-venue.js";

const GENESIS: Command = {
  kind: "Genesis",
  stampMs: START_MS,
  config: venueConfigOf(TEST_MARKETS),
  cohort: "open",
  engineVersion: ENGINE_VERSION,
};
const INDEX: Command = {
  kind: "UpdateIndex",
  stampMs: START_MS,
  market: 0,
  indexTicks: 9,
  slot: START_MS / 200,
};
/** From a batch's publication to its delivery. */
const TRIP_MS = 1;

class Time {
  nowMs = 0;
  private due: { readonly atMs: number; readonly run: () => void }[] = [];

  after(ms: number, run: () => void): void {
    this.due.push({ atMs: this.nowMs + ms, run });
  }

  async pass(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    for (;;) {
      // Promises that the last callback resolved.
      await new Promise((resolve) => setImmediate(resolve));
      const atMs = Math.min(...this.due.map((each) => each.atMs));
      if (atMs > untilMs) break;
      this.nowMs = atMs;
      const next = this.due.findIndex((each) => each.atMs === atMs);
      this.due.splice(next, 1)[0]?.run();
    }
    this.nowMs = untilMs;
  }
}

/** One log that delivers every batch to all of its readers, unless it stalls. */
class SharedLog {
  isStalled = false;
  /** When each writer joined. */
  readonly joins: number[] = [];
  private readonly delivered: Batch[] = [];
  private readonly readers: ((batch: Batch) => void)[] = [];
  private batches = 0;
  private records = 0;

  constructor(private readonly time: Time) {}

  write(id: BatchId, records: readonly Uint8Array[]): void {
    if (id.counter === 0 && id.writer !== GENESIS_WRITER) this.joins.push(this.time.nowMs);
    if (this.isStalled) return;
    const seq = { batch: this.batches, record: this.records };
    this.batches++;
    this.records += records.length;
    const end = { batch: this.batches, record: this.records };
    const batch = { id, seq, end, records };
    this.time.after(TRIP_MS, () => {
      this.delivered.push(batch);
      for (const deliver of this.readers) deliver(batch);
    });
  }

  asSequenced(): SequencedLog {
    return {
      append: async (id, records) => this.write(id, [...records]),
      read: (_from, onBatch) => {
        for (const batch of this.delivered) onBatch(batch);
        this.readers.push(onBatch);
        return { live: Promise.resolve(), close: () => undefined };
      },
      close: async () => undefined,
      abandon: () => undefined,
      stopped: new Promise(() => undefined),
    };
  }
}

/** A venue whose log has begun; `open` starts a sequencer on it, which joins when time passes. */
async function begin() {
  const time = new Time();
  const log = new SharedLog(time);
  const losses: WriterLoss[] = [];
  const refusals: string[] = [];
  let writers = 0;
  const open = async (name: string) => {
    const replica = new Replica();
    const machine: Machine = {
      monotonic: () => time.nowMs,
      after: (ms, run) => time.after(ms, run),
      every: (ms, run) => {
        const again = (): void => {
          run();
          time.after(ms, again);
        };
        time.after(ms, again);
        return () => undefined;
      },
      newWriter: () => (++writers).toString(16).padStart(32, "0"),
    };
    const hooks = {
      onFailure: (error: Error) => {
        throw error;
      },
      onWriterLost: (loss: WriterLoss) => void losses.push(loss),
      onJoinRefused: (reason: string) => void refusals.push(reason),
      atPublish: () => [],
      nowMs: () => START_MS,
    };
    const identity = { name, receiptKey: "", certificate: "" };
    const sequencer = new Sequencer(log.asSequenced(), replica, () => identity, hooks, machine);
    await sequencer.start(LOG_START);
    return { sequencer, replica };
  };
  return { time, log, losses, refusals, open };
}

async function beginWithOne() {
  const opened = await begin();
  const { time, log, open } = opened;
  const one = await open("a");
  log.write({ writer: GENESIS_WRITER, counter: 0 }, [encodeRecord(GENESIS)]);
  const joined = one.sequencer.join();
  await time.pass(10);
  await joined;
  return { ...opened, ...one };
}

test("submit: more commands than a batch has, and a log that stalls: all are given up after a second", async () => {
  const { time, log, sequencer } = await beginWithOne();
  log.isStalled = true;
  sequencer.submit(INDEX);
  await time.pass(10);
  const answers: unknown[] = [];
  const submit = (count: number): void => {
    for (let i = 0; i < count; i++) {
      sequencer.submit(INDEX, NO_EVIDENCE, (applied, why) => answers.push(applied ?? why));
    }
  };
  // A whole batch, and younger ones in a second.
  submit(512);
  await time.pass(500);
  submit(88);
  await time.pass(400);
  expect(answers).toHaveLength(0);
  await time.pass(300);
  expect(answers).toHaveLength(512);
  await time.pass(500);
  expect(answers).toEqual(Array(600).fill("not_executed"));
  // The one in flight.
  expect(sequencer.waiting).toBe(1);
});

test("caughtUp: while the log stalls and while no writer has joined, rejects after a second", async () => {
  const { time, log, open, sequencer } = await beginWithOne();
  log.isStalled = true;
  sequencer.submit(INDEX);
  const joining = await open("b");
  void joining.sequencer.join();
  await time.pass(10);
  const answers: unknown[] = [];
  for (const each of [sequencer, joining.sequencer]) {
    each.caughtUp().catch(({ why }) => answers.push(why));
    each.submit(INDEX);
  }
  await time.pass(500);
  const younger = expect(sequencer.caughtUp()).rejects.toMatchObject({ why: "not_executed" });
  await time.pass(400);
  expect(answers).toEqual([]);
  await time.pass(300);
  expect(answers).toEqual(["not_executed", "not_executed"]);
  await time.pass(500);
  await younger;
});

test("two processes of one name: they join again after pauses that double", async () => {
  const { time, log, losses, open, sequencer, replica } = await beginWithOne();
  const other = await open("a");
  void other.sequencer.join();
  await time.pass(60_000);
  expect(log.joins.length).toBeGreaterThan(10);
  expect(log.joins.length).toBeLessThan(20);
  expect(losses.every(({ isReplaced }) => isReplaced)).toBe(true);
  expect(losses.slice(0, 5).map(({ joinsAgainMs }) => joinsAgainMs)).toEqual([
    250, 250, 500, 500, 1_000,
  ]);
  expect(Math.max(...losses.map(({ joinsAgainMs }) => joinsAgainMs))).toBeLessThanOrEqual(30_000);
  // The other one ends: this one joins in time, and then keeps its writer.
  await Promise.all([other.sequencer.close(), time.pass(10)]);
  await time.pass(30_000);
  expect(sequencer.isLive).toBe(true);
  expect(liveWriters(replica.engine.state).map(({ id }) => id)).toEqual([sequencer.writer]);
  // A writer that lived for 30 s is replaced soon.
  await time.pass(30_000);
  const third = await open("a");
  void third.sequencer.join();
  await time.pass(10);
  expect(losses.at(-1)).toEqual({ isReplaced: true, joinsAgainMs: 250 });
});

test("a batch that the log drops: the gateway joins again, and nobody has replaced it", async () => {
  const { time, log, losses, sequencer } = await beginWithOne();
  // Somebody else has written under this counter of the writer.
  log.write({ writer: sequencer.writer, counter: 1 }, [encodeRecord(INDEX)]);
  await time.pass(10);
  sequencer.submit(INDEX);
  await time.pass(10);
  expect(losses).toEqual([{ isReplaced: false, joinsAgainMs: 250 }]);
  expect(sequencer.isLive).toBe(false);
  await time.pass(250);
  expect(sequencer.isLive).toBe(true);
});

test("as many writers as the log may have: joins after pauses that double, and says why once", async () => {
  const { time, log, refusals, open } = await beginWithOne();
  const others = Array.from({ length: MAX_LIVE_WRITERS - 1 }, (_, i) => otherWriter(i));
  for (const other of others) {
    log.write({ writer: other.writer, counter: 0 }, [encodeRecord(other)]);
  }
  const before = log.joins.length;
  const { sequencer } = await open("late");
  const joined = sequencer.join();
  await time.pass(100_000);
  const attempts = log.joins.slice(before);
  const pauses = attempts.slice(1).map((atMs, i) => atMs - attempts[i]! - TRIP_MS);
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  expect(refusals).toEqual(["too_many_writers"]);
  expect(sequencer.joinRefusal).toBe("too_many_writers");
  const left = encodeRecord({ kind: "WriterLeft", stampMs: START_MS });
  log.write({ writer: others[0]!.writer, counter: 1 }, [left]);
  await time.pass(30_000);
  await joined;
  expect([sequencer.isLive, sequencer.joinRefusal]).toEqual([true, ""]);
});

function otherWriter(i: number): WriterJoined {
  return {
    kind: "WriterJoined",
    stampMs: START_MS,
    writer: (i + 1).toString(16).padStart(32, "f"),
    name: `other-${i}`,
    versions: [ENGINE_VERSION, ENGINE_VERSION],
    receiptKey: "",
    certificate: "",
  };
}

test("a gateway with nothing to write: a batch of its own comes back within 1.1 s", async () => {
  const { time, log, sequencer } = await beginWithOne();
  for (let i = 0; i < 3; i++) {
    const { published } = sequencer;
    await time.pass(1_100 + TRIP_MS);
    expect(sequencer.returned).toBeGreaterThan(published);
  }
  log.isStalled = true;
  const { published } = sequencer;
  await time.pass(5_000);
  expect(sequencer.returned).toBe(published);
});
