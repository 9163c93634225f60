/**
 * Found (cluster seed 10197): a gateway that was stopped while the log ended its writer waited for ever.
 * Its batch in flight was dropped, and neither the clients in it nor the close got an answer.
 */

import { GENESIS_WRITER, type WriterJoined } from "@perpgate/engine";
import type { Batch, BatchId } from "@perpgate/journal";
import { encodeRecord, NO_EVIDENCE, Replica, type SequencedLog, Sequencer } from "@perpgate/venue";
import { expect, test } from "vitest";
import { GENESIS, START_MS } from "../listing.js";

test("the writer is ended while it leaves: clients and the close get their answers", async () => {
  const published: { readonly id: BatchId; readonly records: readonly Uint8Array[] }[] = [];
  let deliver: (batch: Batch) => void = () => undefined;
  const log: SequencedLog = {
    append: async (id, records) => {
      published.push({ id, records: [...records] });
    },
    read: (_from, onBatch) => {
      deliver = onBatch;
      return { live: Promise.resolve(), close: () => undefined };
    },
    stopped: new Promise(() => undefined),
    close: async () => undefined,
    abandon: () => undefined,
  };
  let count = 0;
  const write = (id: BatchId, records: readonly Uint8Array[]): void => {
    const seq = { batch: count, record: count };
    count++;
    deliver({ id, records, seq, end: { batch: count, record: count } });
  };
  const hooks = {
    onFailure: (error: Error) => {
      throw error;
    },
    atPublish: () => [],
    onWriterLost: () => undefined,
    nowMs: () => START_MS,
  };
  const identity = { name: "gateway", receiptKey: "", certificate: "" };
  const sequencer = new Sequencer(log, new Replica(), () => identity, hooks);
  await sequencer.start({ batch: 0, record: 0 });
  write({ writer: GENESIS_WRITER, counter: 0 }, [encodeRecord(GENESIS, NO_EVIDENCE)]);
  const joined = sequencer.join();
  const [join] = published;
  write(join!.id, join!.records);
  await joined;
  const heard: string[] = [];
  sequencer.submit({ kind: "Tick", slot: 1 }, NO_EVIDENCE, (_applied, why) => heard.push(why));
  await Promise.resolve();
  const closed = sequencer.close();
  const writer = "b".repeat(32);
  const other: WriterJoined = {
    kind: "WriterJoined",
    stampMs: START_MS,
    writer,
    versions: [1, 1],
    ...identity,
  };
  write({ writer, counter: 0 }, [encodeRecord(other, NO_EVIDENCE)]);
  await closed;
  expect(heard).toEqual(["not_executed"]);
  expect(sequencer.waiting).toBe(0);
});
