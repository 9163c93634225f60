import { describe, expect, test } from "vitest";
import { openJournal } from "./open-journal.js";
import { appendMany, id, readAll, text } from "./testing/contract.js";
import { CrashWorld } from "./testing/crash-world.js";
import { FakeDisk, type Fault } from "./testing/fake-disk.js";

const SEEDS = Number(process.env.JOURNAL_SEEDS ?? 2000);
const FIRST_SEED = Number(process.env.JOURNAL_FIRST_SEED ?? 1);
const SEGMENT_BYTES = 4096;

/** Runs once for every seed; a failure names the seed that shows it. */
async function forEachSeed(run: (seed: number) => Promise<void>): Promise<void> {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
    try {
      await run(seed);
    } catch (cause) {
      throw new Error(`seed ${seed}: JOURNAL_FIRST_SEED=${seed} JOURNAL_SEEDS=1`, { cause });
    }
  }
}

describe("recover: random lives and deaths", () => {
  test("nothing promised is lost and nothing is half there", async () => {
    await forEachSeed(async (seed) => {
      const world = new CrashWorld(seed, SEGMENT_BYTES);
      for (let life = 0; life < 4; life++) {
        await live(world);
        world.disk.restart(world.random.pick(["kill", "power_cut"]));
      }
      expect(await world.open()).toBeDefined();
    });
  });
});

/** Opens, appends, snapshots and prunes until the planned fault or the end of the run. */
async function live(world: CrashWorld): Promise<void> {
  const { random } = world;
  const faults: [Fault, ...Fault[]] = [
    { kind: "crash" },
    { kind: "crash", bytesWritten: 1 + random.below(600) },
    { kind: "short_write", bytesWritten: 1 + random.below(50) },
    { kind: "error", code: "EIO" },
    { kind: "error", code: "ENOSPC", bytesWritten: 1 + random.below(200) },
    { kind: "failed_sync" },
  ];
  world.planFault(random.pick(faults), 40);
  const journal = await world.open();
  if (journal === undefined) return;
  const bursts = random.below(12);
  for (let burst = 0; burst < bursts; burst++) {
    await world.append(journal, 1 + random.below(6));
    if (random.chance(0.1)) world.snapshot(journal);
    if (random.chance(0.1)) world.prune(journal);
  }
}

describe("recover: every place to crash", () => {
  test("crash before each operation of a life with rotations", async () => {
    const count = await operationsOfOneLife({ kind: "crash" }, Number.POSITIVE_INFINITY);
    expect(count).toBeGreaterThan(40);
    for (let operation = 1; operation <= count; operation++) {
      await operationsOfOneLife({ kind: "crash" }, operation);
    }
  });

  test("each operation fails once, with EIO, and the process ends", async () => {
    const count = await operationsOfOneLife({ kind: "crash" }, Number.POSITIVE_INFINITY);
    for (let operation = 1; operation <= count; operation++) {
      await operationsOfOneLife({ kind: "error", code: "EIO" }, operation);
      await operationsOfOneLife({ kind: "failed_sync" }, operation);
    }
  });

  /** One life with a fault, then both kinds of restart, then another life; returns operations. */
  async function operationsOfOneLife(fault: Fault, operation: number): Promise<number> {
    let operations = 0;
    for (const after of ["kill", "power_cut"] as const) {
      const world = new CrashWorld(operation, SEGMENT_BYTES);
      world.disk.plan = { operation, fault };
      const journal = await world.open();
      for (let burst = 0; journal !== undefined && burst < 10; burst++) {
        await world.append(journal, 5);
        if (burst === 6) world.snapshot(journal);
        if (burst === 7) world.prune(journal);
      }
      operations = world.disk.operations;
      world.disk.restart(after);
      const next = await world.open();
      expect(next, `operation ${operation}, ${after}`).toBeDefined();
      if (next !== undefined) await world.append(next, 3);
      world.disk.restart("power_cut");
      expect(await world.open(), `operation ${operation}, ${after}, again`).toBeDefined();
    }
    return operations;
  }

  test("crash after each byte of the last batch: it is cut, reported, and never comes back", async () => {
    const last = [text("the last record, "), text("of two")];
    const open = (disk: FakeDisk) =>
      openJournal({ directory: "/log", disk, segmentBytes: SEGMENT_BYTES });
    const prepared = new FakeDisk(1);
    const before = await open(prepared);
    await appendMany(before, 0, 3);
    await before.close();
    const length = 56 + 8 + 17 + 6 + 1;
    for (let bytesWritten = 1; bytesWritten <= length; bytesWritten++) {
      const disk = prepared.clone(bytesWritten);
      const journal = await open(disk);
      disk.plan = { operation: disk.operations + 1, fault: { kind: "crash", bytesWritten } };
      await expect(journal.append(id(3), last)).rejects.toMatchObject({ code: "journal_stopped" });
      disk.restart("kill");
      const after = await open(disk);
      // The padding at the very end is zero already: without it the batch is whole.
      const whole = bytesWritten >= length - 1;
      expect(after.end.batch, `after ${bytesWritten} bytes`).toBe(whole ? 4 : 3);
      expect(after.recovery.cut.map((cut) => cut.bytes > 0)).toEqual(whole ? [] : [true]);
      await after.append(id(4), [text("x")]);
      await after.close();
      const again = await open(disk);
      expect(again.recovery.cut).toEqual([]);
      expect((await readAll(again)).map((batch) => batch.id.counter)).toEqual(
        whole ? [0, 1, 2, 3, 4] : [0, 1, 2, 4],
      );
    }
  });
});
