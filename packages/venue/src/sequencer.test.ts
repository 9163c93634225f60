import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINE_VERSION, Engine, type VenueConfig } from "@perpgate/engine";
import { LOG_START, openJournal } from "@perpgate/journal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NO_EVIDENCE } from "./record/record.js";
import { Replica } from "./replica.js";
import { RecordTooLarge, Sequencer } from "./sequencer.js";

const CONFIG: VenueConfig = {
  markets: [
    {
      symbol: "BTCUSD",
      microsPerTickLot: 1,
      tiers: [{ upToMicros: 1e12, maxLeverage: 50, maintenancePpm: 10_000 }],
      takerFeePpm: 500,
      makerFeePpm: 200,
      bandPpm: 50_000,
      impactNotionalMicros: 2e10,
      minNotionalMicros: 0,
      maxOpenInterestMicros: Number.MAX_SAFE_INTEGER,
      maxIndexJumpPpm: 200_000,
    },
  ],
  fundSeedMicros: 1e12,
  backstopCapMicros: 5e12,
  fundLossPerHourPpm: 20_000,
  maxOpenOrders: 500,
  attestorKind: "dev",
  attestors: 1,
  attestorQuorum: 1,
  devCreditMicros: 1e10,
};
const START_MS = 1_800_000_000_000;

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "perpgate-sequencer-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function open(): Promise<{ sequencer: Sequencer; engine: Engine; failures: Error[] }> {
  const failures: Error[] = [];
  const journal = await openJournal({ directory, segmentBytes: 1 << 20 });
  const engine = new Engine();
  const replica = new Replica(engine);
  const sequencer = new Sequencer(journal, replica, 1, (error) => failures.push(error));
  await sequencer.start(LOG_START);
  return { sequencer, engine, failures };
}

describe("the sequencer", () => {
  test("submit: submitters are called in log order, each with its seq", async () => {
    const { sequencer, engine } = await open();
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    const answers: number[] = [];
    const first = sequencer.submitted(genesis, NO_EVIDENCE, (applied) => applied.seq);
    for (let i = 1; i <= 2_000; i++) {
      const command = { kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: i } as const;
      sequencer.submit(command, NO_EVIDENCE, (applied) => answers.push(applied?.seq ?? -1));
    }
    const last = await sequencer.submitted(
      { kind: "Tick", slot: START_MS / 200 + 1 },
      NO_EVIDENCE,
      (applied) => applied.seq,
    );
    expect(await first).toBe(1);
    expect(last).toBe(2_002);
    expect(answers).toEqual(Array.from({ length: 2_000 }, (_, i) => i + 2));
    expect(sequencer.waiting).toBe(0);
    expect(engine.seq).toBe(2_002);
    await sequencer.close();
  });

  test("start: after a restart applies the same log and continues the batch counter", async () => {
    const before = await open();
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    await before.sequencer.submitted(genesis, NO_EVIDENCE, () => undefined);
    await before.sequencer.close();
    const after = await open();
    expect(Buffer.compare(after.engine.snapshot(), before.engine.snapshot())).toBe(0);
    const index = { kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: 9 } as const;
    expect(await after.sequencer.submitted(index, NO_EVIDENCE, (applied) => applied.seq)).toBe(2);
    await after.sequencer.close();
  });

  test("close: applies what was submitted; later submitters get null", async () => {
    const { sequencer, failures } = await open();
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    let seq = 0;
    sequencer.submit(genesis, NO_EVIDENCE, (applied) => {
      seq = applied?.seq ?? -1;
    });
    await sequencer.close();
    expect(seq).toBe(1);
    let later: unknown = "unheard";
    sequencer.submit({ kind: "Tick", slot: 1 }, NO_EVIDENCE, (applied) => {
      later = applied;
    });
    expect(later).toBeNull();
    expect(failures).toEqual([]);
  });

  test("submit: a command too large for the log throws to its caller alone", async () => {
    const { sequencer, failures } = await open();
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    await sequencer.submitted(genesis, NO_EVIDENCE, () => undefined);
    const crowd = Array.from({ length: 25_000 }, (_, i) => i.toString(16).padStart(40, "0"));
    const cohort = {
      kind: "SetCohort",
      stampMs: START_MS,
      expiresAtMs: START_MS + 60_000,
      stage: "open",
      disallow: [],
    } as const;
    expect(() => sequencer.submit({ ...cohort, allow: crowd })).toThrow(RecordTooLarge);
    const few = { ...cohort, allow: crowd.slice(0, 5_000) };
    expect(await sequencer.submitted(few, NO_EVIDENCE, (applied) => applied.seq)).toBe(2);
    expect(failures).toEqual([]);
    await sequencer.close();
  });

  test("submitTogether: one durable batch with nothing in between, also next to a full one", async () => {
    const { sequencer } = await open();
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    await sequencer.submitted(genesis, NO_EVIDENCE, () => undefined);
    const index = { kind: "UpdateIndex", stampMs: START_MS, market: 0, indexTicks: 9 } as const;
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
    expect(seqs).toEqual(Array.from({ length: 40 * 80 }, (_, i) => i + 2));
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
      const first = 2 + group * 80 + 30;
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
    const journal = await openJournal({ directory, segmentBytes: 1 << 20 });
    const failures: Error[] = [];
    const observer = {
      onCommand({ seq }: { seq: number }): void {
        if (seq === 3) throw new Error("a projection failed");
      },
    };
    const replica = new Replica(new Engine(), [observer]);
    const sequencer = new Sequencer(journal, replica, 1, (error) => failures.push(error));
    await sequencer.start(LOG_START);
    const genesis = {
      kind: "Genesis",
      stampMs: START_MS,
      config: CONFIG,
      cohort: "open",
      engineVersion: ENGINE_VERSION,
    } as const;
    const heard: (number | null)[][] = [[], [], [], []];
    const stopped = new Promise<void>((resolve) => {
      for (let i = 0; i < 4; i++) {
        sequencer.submit(genesis, NO_EVIDENCE, (applied) => {
          heard[i]!.push(applied?.seq ?? null);
          if (applied === null) resolve();
        });
      }
    });
    await stopped;
    expect(heard).toEqual([[1], [2], [null], [null]]);
    expect(failures.map((error) => error.message)).toEqual([
      "command 3 cannot be applied: a projection failed",
    ]);
    await journal.close();
  });
});
