import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Command, Engine, GENESIS_WRITER } from "@perpgate/engine";
import { liveWriters } from "@perpgate/engine/reading";
import { addressOf, BTC, genesis, setCohort, venueConfig } from "@perpgate/engine/testing";
import { type FileJournal, LOG_START, openJournal } from "@perpgate/journal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RecordTooLarge } from "./pending-batches.js";
import { CommandUnwritable, encodeRecord, NO_EVIDENCE } from "./record/record.js";
import { type CommandObserver, Replica } from "./replica.js";
import { Sequencer } from "./sequencer.js";

const CONFIG = venueConfig([BTC], { attestorKind: "dev", devCreditMicros: 1e10 });
const START_MS = 1_800_000_000_000;
const INDEX: Command = {
  kind: "UpdateIndex",
  stampMs: START_MS,
  market: 0,
  indexTicks: 9,
  slot: START_MS / 200,
};

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "perpgate-sequencer-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const GENESIS = genesis(START_MS, CONFIG);
const WRITER = { name: "test", receiptKey: "", certificate: "" };
/** Positions of Genesis and of the writer's join. */
const BEGINNING = 2;

const SILENT_HOOKS = {
  onFailure: () => undefined,
  atPublish: () => [],
  nowMs: () => START_MS,
};

interface Opened {
  readonly journal: FileJournal;
  readonly sequencer: Sequencer;
  readonly engine: Engine;
  readonly failures: Error[];
}

async function open(observers: readonly CommandObserver[] = []): Promise<Opened> {
  const failures: Error[] = [];
  const journal = await openJournal({ directory, segmentBytes: 1 << 20 });
  const engine = new Engine();
  const sequencer = new Sequencer(journal, new Replica(engine, observers), () => WRITER, {
    ...SILENT_HOOKS,
    onFailure: (error) => failures.push(error),
  });
  await sequencer.start(LOG_START);
  if (engine.seq === 0) {
    await journal.append({ writer: GENESIS_WRITER, counter: 0 }, [encodeRecord(GENESIS)]);
  }
  await sequencer.join();
  return { journal, sequencer, engine, failures };
}

describe("the sequencer", () => {
  test("submit: submitters are called in log order, each with its seq", async () => {
    const { sequencer, engine } = await open();
    const answers: number[] = [];
    for (let i = 1; i <= 2_000; i++) {
      const command = { ...INDEX, indexTicks: i };
      sequencer.submit(command, NO_EVIDENCE, (applied) => answers.push(applied?.seq ?? -1));
    }
    const last = await sequencer.submitted(
      { kind: "Tick", slot: START_MS / 200 + 1 },
      NO_EVIDENCE,
      (applied) => applied.seq,
    );
    expect(last).toBe(BEGINNING + 2_001);
    expect(answers).toEqual(Array.from({ length: 2_000 }, (_, i) => i + BEGINNING + 1));
    expect(sequencer.waiting).toBe(0);
    expect(engine.seq).toBe(BEGINNING + 2_001);
    await sequencer.close();
  });

  test("submit: a submitter that submits when it is called: both are counted until they are answered", async () => {
    const { sequencer } = await open();
    await new Promise<void>((resolve) => {
      sequencer.submit(INDEX, NO_EVIDENCE, () => {
        sequencer.submit(INDEX, NO_EVIDENCE, () => resolve());
        expect(sequencer.waiting).toBe(2);
      });
    });
    await nextTurn();
    expect(sequencer.waiting).toBe(0);
    await sequencer.close();
  });

  test("start: after a restart applies the same log and joins as another writer", async () => {
    const before = await open();
    await before.sequencer.close();
    expect(liveWriters(before.engine.state)).toEqual([]);
    const after = await open();
    // Genesis, a join, its end, and the second join.
    expect(after.engine.seq).toBe(4);
    expect(after.sequencer.writer).not.toBe(before.sequencer.writer);
    expect(liveWriters(after.engine.state).map(({ id }) => id)).toEqual([after.sequencer.writer]);
    expect(await after.sequencer.submitted(INDEX, NO_EVIDENCE, (applied) => applied.seq)).toBe(5);
    await after.sequencer.close();
  });

  test("close: applies what was submitted; later submitters get null", async () => {
    const { sequencer, failures } = await open();
    let seq = 0;
    sequencer.submit(INDEX, NO_EVIDENCE, (applied) => {
      seq = applied?.seq ?? -1;
    });
    await sequencer.close();
    expect(seq).toBe(BEGINNING + 1);
    let later: unknown = "unheard";
    sequencer.submit({ kind: "Tick", slot: 1 }, NO_EVIDENCE, (applied) => {
      later = applied;
    });
    expect(later).toBeNull();
    expect(failures).toEqual([]);
  });

  test("close: a command that is submitted while the writer leaves is answered", async () => {
    const { sequencer, failures } = await open();
    const closed = sequencer.close();
    // The batch with WriterLeft is published, and not yet durable.
    await Promise.resolve();
    const answers: unknown[] = [];
    sequencer.submit(INDEX, NO_EVIDENCE, (applied, why) => answers.push(applied ?? why));
    await closed;
    expect(answers).toEqual(["not_executed"]);
    expect(sequencer.waiting).toBe(0);
    expect(failures).toEqual([]);
  });

  test("submit: a batch that the log drops is answered, and the sequencer fails", async () => {
    const { journal, sequencer, failures } = await open();
    const answers: unknown[] = [];
    // Somebody else has written under this counter of the writer.
    await journal.append({ writer: sequencer.writer, counter: 1 }, [encodeRecord(INDEX)]);
    sequencer.submit(INDEX, NO_EVIDENCE, (applied, why) => answers.push(applied ?? why));
    const later = sequencer.submitted(INDEX, NO_EVIDENCE, () => undefined);
    await expect(later).rejects.toMatchObject({ why: "not_executed" });
    expect(answers).toEqual(["not_executed"]);
    expect(sequencer.waiting).toBe(0);
    expect(failures).toHaveLength(1);
    await sequencer.close();
  });

  test("submit: a command that replicas would refuse throws to its caller, and nothing is written", async () => {
    const { sequencer, engine, failures } = await open();
    const before = engine.seq;
    const unfit: Command = { kind: "CancelOrder", stampMs: START_MS, session: 1, orderId: 1e16 };
    expect(() => sequencer.submit(unfit)).toThrow(CommandUnwritable);
    expect(() => sequencer.submitTogether([INDEX, unfit], NO_EVIDENCE)).toThrow(CommandUnwritable);
    await sequencer.submitted(INDEX, NO_EVIDENCE, () => undefined);
    expect({ seq: engine.seq, waiting: sequencer.waiting }).toEqual({
      seq: before + 1,
      waiting: 0,
    });
    expect(failures).toEqual([]);
    await sequencer.close();
  });

  test("submit: a command too large for the log throws to its caller alone", async () => {
    const { sequencer, failures } = await open();
    const crowd = Array.from({ length: 25_000 }, (_, i) => addressOf(i));
    const admits = (allow: readonly string[]) => setCohort(START_MS, "open", allow);
    expect(() => sequencer.submit(admits(crowd))).toThrow(RecordTooLarge);
    const few = admits(crowd.slice(0, 5_000));
    expect(await sequencer.submitted(few, NO_EVIDENCE, (applied) => applied.seq)).toBe(
      BEGINNING + 1,
    );
    expect(failures).toEqual([]);
    await sequencer.close();
  });

  test("submitTogether: one durable batch with nothing in between, also next to a full one", async () => {
    const { sequencer } = await open();
    const index = INDEX;
    const seqs: number[] = [];
    const groups: [number, number, number][] = [];
    for (let group = 0; group < 40; group++) {
      for (let i = 0; i < 30; i++) {
        sequencer.submit(index, NO_EVIDENCE, (applied) => seqs.push(applied?.seq ?? -1));
      }
      const signed = Uint8Array.of(group);
      const evidence = { signed, signature: signed, publicKey: new Uint8Array(0) };
      sequencer.submitTogether(Array(50).fill(index), evidence, (applied, i) => {
        seqs.push(applied?.seq ?? -1);
        groups.push([group, i, applied?.evidence.signed.length ?? -1]);
      });
    }
    await sequencer.submitted(index, NO_EVIDENCE, () => undefined);
    expect(seqs).toEqual(Array.from({ length: 40 * 80 }, (_, i) => i + BEGINNING + 1));
    expect(groups).toEqual(
      Array.from({ length: 2_000 }, (_, i) => [Math.floor(i / 50), i % 50, i % 50 === 0 ? 1 : 0]),
    );
    await sequencer.close();
    const journal = await openJournal({ directory, segmentBytes: 1 << 20 });
    const batches = new Map<number, number>();
    let seq = 0;
    const reading = journal.read(LOG_START, (batch) => {
      for (const _ of batch.records) batches.set(++seq, batch.seq.batch);
    });
    await reading.live;
    for (let group = 0; group < 40; group++) {
      const first = BEGINNING + 1 + group * 80 + 30;
      expect(batches.get(first)).toBe(batches.get(first + 49));
    }
    await journal.close();
    const over: null[] = [];
    sequencer.submitTogether([index, index], NO_EVIDENCE, (applied) => {
      if (applied === null) over.push(applied);
    });
    expect(over).toEqual([null, null]);
  });

  test("apply: a submitter that was called is not called again by the stop that follows", async () => {
    const observer = {
      onCommand({ seq }: { seq: number }): void {
        if (seq === 5) throw new Error("a projection failed");
      },
    };
    const { journal, sequencer, failures } = await open([observer]);
    const heard: (number | null)[][] = [[], [], [], []];
    const stopped = new Promise<void>((resolve) => {
      for (let i = 0; i < 4; i++) {
        sequencer.submit(GENESIS, NO_EVIDENCE, (applied) => {
          heard[i]!.push(applied?.seq ?? null);
          if (applied === null) resolve();
        });
      }
    });
    await stopped;
    expect(heard).toEqual([[3], [4], [null], [null]]);
    expect(failures.map((error) => error.message)).toEqual([
      "command 5 cannot be applied: a projection failed",
    ]);
    await journal.close();
  });
});
