/**
 * The contract of every journal implementation. An implementation runs these tests by passing a
 * world in which a journal can be opened, closed and reopened on the same log.
 */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Batch,
  type BatchId,
  type Journal,
  LOG_START,
  type LogSeq,
  MAX_BATCH_BYTES,
} from "../journal.js";

export interface JournalWorld {
  /** Opens the world's one log, which is empty the first time. */
  open(): Promise<Journal>;
  dispose(): Promise<void>;
}

export function describeJournal(name: string, createWorld: () => Promise<JournalWorld>): void {
  describe(`journal contract: ${name}`, () => {
    let world: JournalWorld;
    let journal: Journal;

    beforeEach(async () => {
      world = await createWorld();
      journal = await world.open();
    });

    afterEach(async () => {
      await journal.close();
      await world.dispose();
    });

    async function reopen(): Promise<void> {
      await journal.close();
      journal = await world.open();
    }

    test("append: resolves, and the batch is read back with its id, seq and bytes", async () => {
      await journal.append(id(7), [text("a"), text(""), text("ccc")]);
      const end = { batch: 1, record: 3 };
      expect(await readAll(journal)).toEqual([
        { id: id(7), seq: LOG_START, end, records: [text("a"), text(""), text("ccc")] },
      ]);
      expect(journal.end).toEqual(end);
    });

    test("append: batches keep the order of the calls", async () => {
      await appendMany(journal, 0, 500);
      const batches = await readAll(journal);
      expect(batches.map((batch) => batch.id.counter)).toEqual(range(0, 500));
      expect(batches.map((batch) => batch.seq.record)).toEqual(range(0, 500));
    });

    test("append: more than the journal buffers: durable in order", async () => {
      const large = new Uint8Array(MAX_BATCH_BYTES / 2).fill(1);
      await Promise.all(range(0, 20).map((counter) => journal.append(id(counter), [large])));
      const batches = await readAll(journal);
      expect(batches.map((batch) => batch.id.counter)).toEqual(range(0, 20));
      expect(batches.every((batch) => batch.records[0]?.length === large.length)).toBe(true);
    });

    test("append: the largest ids come back unchanged", async () => {
      const largest = { writer: `${"f".repeat(31)}e`, counter: Number.MAX_SAFE_INTEGER };
      await journal.append(largest, [text("x")]);
      expect((await readAll(journal))[0]?.id).toEqual(largest);
    });

    test("append: the same batch id again settles an unknown outcome", async () => {
      await journal.append(id(1), [text("once")]);
      await journal.append(id(1), [text("once")]);
      await journal.append(id(2), [text("next")]);
      const batches = await readAll(journal);
      const firstSeen = [...new Set(batches.map((batch) => batch.id.counter))];
      expect(firstSeen).toEqual([1, 2]);
    });

    test.each<[string, BatchId, Uint8Array[]]>([
      ["batch_empty", id(1), []],
      ["batch_too_large", id(1), [new Uint8Array(MAX_BATCH_BYTES)]],
      ["writer_invalid", { writer: "1".repeat(31), counter: 0 }, [text("x")]],
      ["writer_invalid", { writer: "G".repeat(32), counter: 0 }, [text("x")]],
      ["counter_out_of_range", { writer: WRITER, counter: 0.5 }, [text("x")]],
      ["counter_out_of_range", { writer: WRITER, counter: 2 ** 53 }, [text("x")]],
    ])("append: %s is refused and the journal goes on", async (code, batchId, records) => {
      await expect(journal.append(batchId, records)).rejects.toMatchObject({ code });
      await journal.append(id(2), [text("after")]);
      expect((await readAll(journal)).map((batch) => batch.id.counter)).toEqual([2]);
    });

    test("read: stored and new batches, without gap or repeat", async () => {
      await appendMany(journal, 0, 100);
      const seen: number[] = [];
      const reading = journal.read(LOG_START, (batch) => seen.push(batch.id.counter));
      await appendMany(journal, 100, 200);
      await reading.live;
      await appendMany(journal, 200, 300);
      expect(seen).toEqual(range(0, 300));
    });

    test("read: from the middle", async () => {
      await appendMany(journal, 0, 50);
      const from = { batch: 20, record: 20 };
      expect((await readAll(journal, from)).map((batch) => batch.id.counter)).toEqual(
        range(20, 50),
      );
    });

    test("read: from the end, only new batches", async () => {
      await appendMany(journal, 0, 5);
      const seen: number[] = [];
      await journal.read(journal.end, (batch) => seen.push(batch.id.counter)).live;
      await appendMany(journal, 5, 8);
      expect(seen).toEqual([5, 6, 7]);
    });

    test("read: two readers see the same", async () => {
      const seen: [LogSeq[], LogSeq[]] = [[], []];
      for (const list of seen) {
        await journal.read(LOG_START, (batch) => list.push(batch.seq)).live;
      }
      await appendMany(journal, 0, 10);
      expect(seen[0]).toHaveLength(10);
      expect(seen[1]).toEqual(seen[0]);
    });

    test("read: a closed reading gets nothing more", async () => {
      const seen: number[] = [];
      const reading = journal.read(LOG_START, (batch) => seen.push(batch.id.counter));
      await reading.live;
      await appendMany(journal, 0, 3);
      reading.close();
      await appendMany(journal, 3, 6);
      expect(seen).toEqual([0, 1, 2]);
    });

    test.each<[string, LogSeq]>([
      ["beyond the end", { batch: 4, record: 4 }],
      ["with another count of records at the end", { batch: 3, record: 7 }],
      ["with another count of records in the middle", { batch: 1, record: 2 }],
    ])("read: a place %s is refused", async (_, from) => {
      await appendMany(journal, 0, 3);
      await expect(readAll(journal, from)).rejects.toMatchObject({ code: "position_unavailable" });
    });

    test("reopen: everything appended is there, and counting goes on", async () => {
      await appendMany(journal, 0, 30);
      await reopen();
      expect(journal.end).toEqual({ batch: 30, record: 30 });
      await appendMany(journal, 30, 40);
      await reopen();
      expect((await readAll(journal)).map((batch) => batch.id.counter)).toEqual(range(0, 40));
    });

    test("close: pending appends are made durable, later ones are rejected", async () => {
      const pending = appendMany(journal, 0, 20);
      const closed = journal.close();
      await expect(journal.append(id(99), [text("late")])).rejects.toMatchObject({
        code: "journal_closed",
      });
      await pending;
      await closed;
      journal = await world.open();
      expect(journal.end.batch).toBe(20);
    });

    test("snapshots: the newest is read back after a reopen, with its seq", async () => {
      await appendMany(journal, 0, 4);
      journal.snapshots.write({ batch: 2, record: 2 }, [text("old")]);
      journal.snapshots.write({ batch: 4, record: 4 }, [text("ne"), text("w")]);
      await reopen();
      const { snapshot, damaged } = journal.snapshots.newest();
      expect(snapshot?.seq).toEqual({ batch: 4, record: 4 });
      expect(Buffer.from(snapshot?.body ?? []).toString()).toBe("new");
      expect(damaged).toEqual([]);
      expect(journal.snapshots.list().map((one) => one.seq.batch)).toEqual([4, 2]);
    });

    test("prune: refused without a snapshot at or after it", async () => {
      await appendMany(journal, 0, 4);
      expect(() => journal.prune({ batch: 2, record: 2 })).toThrow(/no valid snapshot/);
      journal.snapshots.write({ batch: 1, record: 1 }, [text("s")]);
      expect(() => journal.prune({ batch: 2, record: 2 })).toThrow(/is at batch 1/);
    });
  });
}

/** Every durable batch from `from` on. */
export async function readAll(journal: Journal, from = LOG_START): Promise<Batch[]> {
  const batches: Batch[] = [];
  const reading = journal.read(from, ({ id, seq, end, records }) => {
    batches.push({ id, seq, end, records: records.map((record) => Uint8Array.from(record)) });
  });
  await reading.live;
  reading.close();
  return batches;
}

export async function appendMany(journal: Journal, from: number, to: number): Promise<void> {
  await Promise.all(
    range(from, to).map((counter) => journal.append(id(counter), [text(`record ${counter}`)])),
  );
}

const WRITER = "1".repeat(32);

export const id = (counter: number): BatchId => ({ writer: WRITER, counter });

export const text = (value: string): Uint8Array => new TextEncoder().encode(value);

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
