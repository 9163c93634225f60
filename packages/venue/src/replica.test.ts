/** Which batches of the log a replica applies, and that one it drops changes nothing. */
import { createHash } from "node:crypto";
import { type Command, ENGINE_VERSION, GENESIS_WRITER, UnknownToRelease } from "@perpgate/engine";
import type { LogSeq } from "@perpgate/journal";
import { expect, test } from "vitest";
import { venueConfigOf } from "./listing/venue-config.js";
import { encodeRecord } from "./record/record.js";
import { Replica } from "./replica.js";
import { orderCommand, START_MS, TEST_MARKETS } from "./testing/test-venue.js";

const WRITER = "1".repeat(32);
const OTHER = "2".repeat(32);
const GENESIS: Command = {
  kind: "Genesis",
  stampMs: START_MS,
  config: venueConfigOf(TEST_MARKETS),
  cohort: "open",
  engineVersion: ENGINE_VERSION,
};
const LEAVE: Command = { kind: "WriterLeft", stampMs: START_MS };
/** Of a format that only a later release knows. */
const LATER = Uint8Array.of(2, 0);

function join(writer: string, name: string): Command {
  const versions = [ENGINE_VERSION, ENGINE_VERSION] as const;
  const keys = { receiptKey: "", certificate: "" };
  return { kind: "WriterJoined", stampMs: START_MS, writer, name, versions, ...keys };
}

function tick(slots: number): Command {
  return { kind: "Tick", slot: START_MS / 200 + slots };
}

/** A log of batches, and the replica that applies them. */
class Log {
  readonly ends: LogSeq[] = [];
  readonly replica = new Replica(undefined, [
    { onCommand: () => undefined, onBatchEnd: (end) => this.ends.push(end) },
  ]);
  private end: LogSeq = { batch: 0, record: 0 };

  /** Of a venue that has begun and has one live writer. */
  static begun(): Log {
    const log = new Log();
    expect(log.take(GENESIS_WRITER, 0, GENESIS)).toBeNull();
    expect(log.take(WRITER, 0, join(WRITER, "gateway-1"))).toBeNull();
    return log;
  }

  /** Returns why the replica drops the batch; null if it applies it. */
  take(writer: string, counter: number, ...content: (Command | Uint8Array)[]): string | null {
    const records = content.map((each) => (each instanceof Uint8Array ? each : encodeRecord(each)));
    const seq = this.end;
    this.end = { batch: seq.batch + 1, record: seq.record + records.length };
    const batch = { id: { writer, counter }, seq, end: this.end, records };
    return this.replica.applyBatch(batch) ? null : this.replica.dropped;
  }

  get state(): string {
    const { engine } = this.replica;
    return engine.stateHash((bytes) => createHash("sha256").update(bytes).digest("hex"));
  }
}

const ORDER = encodeRecord(orderCommand(3, 1, "long", 650_000, 100));
const MALFORMED: readonly (readonly [string, Uint8Array])[] = [
  ["no bytes", new Uint8Array(0)],
  ["one byte", Uint8Array.of(1)],
  ["an order that is cut short", ORDER.subarray(0, ORDER.length - 1)],
  ["an order with a byte too many", Buffer.concat([ORDER, Uint8Array.of(0)])],
  ["a tick whose slot is not whole", fractional(encodeRecord(tick(1)))],
  ["a command that is no JSON", overwritten(encodeRecord(LEAVE), "WriterLeft", 'WriterLef"')],
  ["a command of no known shape", overwritten(encodeRecord(LEAVE), "stampMs", "stampXX")],
];

test.each(MALFORMED)("applyBatch: a record of %s drops its batch whole", (_, record) => {
  const log = Log.begun();
  const { state, replica } = log;
  const { seq } = replica;
  expect(log.take(WRITER, 1, tick(1), record, tick(2))).toBe("malformed");
  expect(replica).toMatchObject({ drops: 1, seq });
  expect(log.state).toBe(state);
  // Observers follow the log: a dropped batch has its place in it.
  expect(log.ends.at(-1)).toEqual({ batch: 3, record: 5 });
  // It has not used its counter.
  expect(log.take(WRITER, 1, tick(1))).toBeNull();
  expect(replica).toMatchObject({ drops: 1, seq: seq + 1 });
});

test("applyBatch: a malformed record of a writer that has not joined drops its batch", () => {
  const log = Log.begun();
  const { state } = log;
  expect(log.take(OTHER, 0, Uint8Array.of(1))).toBe("malformed");
  expect(log.state).toBe(state);
  // Its id is not used up.
  expect(log.take(OTHER, 0, join(OTHER, "gateway-2"))).toBeNull();
});

test("applyBatch: duplicates, gaps and used ids change nothing", () => {
  const log = Log.begun();
  const clean = Log.begun();
  const apply = (writer: string, counter: number, command: Command): void => {
    expect(log.take(writer, counter, command)).toBeNull();
    expect(clean.take(writer, counter, command)).toBeNull();
  };
  apply(WRITER, 1, tick(1));
  expect(log.take(WRITER, 1, tick(2))).toBe("counter_passed");
  expect(log.take(WRITER, 0, join(WRITER, "gateway-1"))).toBe("counter_passed");
  expect(log.take(WRITER, 3, tick(2))).toBe("counter_gap");
  expect(log.take(GENESIS_WRITER, 0, GENESIS)).toBe("already_started");
  expect(log.take(OTHER, 0, tick(2))).toBe("not_a_join");
  expect(log.take(OTHER, 0, join(WRITER, "gateway-2"))).toBe("not_a_join");
  apply(OTHER, 0, join(OTHER, "gateway-2"));
  apply(OTHER, 1, LEAVE);
  expect(log.take(OTHER, 2, tick(2))).toBe("writer_not_live");
  expect(log.take(OTHER, 0, join(OTHER, "gateway-2"))).toBe("writer_ended");
  apply(WRITER, 2, tick(2));
  expect(log.replica.drops).toBe(8);
  expect(log.state).toBe(clean.state);
});

test("applyBatch: a record of a later release stops the replica, unless its writer is not live", () => {
  const log = Log.begun();
  expect(log.take(OTHER, 1, LATER)).toBe("writer_not_live");
  expect(() => log.take(WRITER, 1, LATER)).toThrow(UnknownToRelease);
});

/** With a number that is not whole as the first of its binary form. */
function fractional(record: Uint8Array): Uint8Array {
  const bytes = Buffer.from(record);
  bytes.writeDoubleLE(0.5, 2);
  return bytes;
}

function overwritten(record: Uint8Array, text: string, by: string): Uint8Array {
  const bytes = Buffer.from(record);
  bytes.write(by, bytes.indexOf(text));
  return bytes;
}
