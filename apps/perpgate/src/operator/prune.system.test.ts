/** `perpgate prune` on real folders, next to a live venue and without one. */

import { cpSync, readdirSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { ArchiveFeed, noteArchived, verify } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { Indexer } from "../archive/indexer.js";
import { BridgeControl } from "../serve/bridge/bridge-control.js";
import { CohortControl } from "../serve/cohort-control.js";
import { ControlSocket } from "../serve/control-socket.js";
import { MarketControl } from "../serve/market-control.js";
import { stepDown } from "../serve/step-down-control.js";
import { UpgradeControl } from "../serve/upgrade-control.js";
import { commandHere } from "../testing/command-here.js";
import { PerpgateProcess, temporaryFolder } from "../testing/perpgate-process.js";

const OPTIONS = {
  checkpoints: { everyCommands: 100, everyMs: 3_600_000, keep: 3 },
  segmentBytes: 8_192,
};

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(folder, "journal"))
    .filter((name) => name.endsWith(ending))
    .sort();

const prune = (folder: string, ...args: string[]) =>
  commandHere(["prune", "--data", folder, ...args]);

/** While this process has the history open. */
const pruneElsewhere = (folder: string) => new PerpgateProcess(["prune", "--data", folder]).ended;

/** A venue with a log of many small segments, and two snapshots at least. */
async function liveVenue(folder: string): Promise<TestVenue> {
  const driver = await TestVenue.open(folder, OPTIONS);
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 300; nonce++) {
    await driver.order(session, nonce, "long", 640_000);
    // Blocks are sealed.
    if (nonce % 30 === 0) await driver.tick();
  }
  await driver.venue.history.flush();
  await until(() => filesIn(folder, ".snapshot").length > 1);
  return driver;
}

describe("perpgate prune", () => {
  test("without a venue: a dry run removes nothing, a run removes what it said, and no more", async () => {
    const folder = join(temporaryFolder(), "data");
    await (await liveVenue(folder)).venue.close();
    const before = filesIn(folder, ".log");

    const dry = await prune(folder, "--dry-run", "--json");
    expect(dry).toMatchObject({ code: 0, stderr: "" });
    const plan: { removed: string[]; keptSegments: number } = JSON.parse(dry.stdout);
    expect(plan.removed.length).toBeGreaterThan(1);
    expect(filesIn(folder, ".log")).toEqual(before);

    const done = await prune(folder);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /^removed \d+ segments, \d+ bytes .*\n {2}kept: \d+ segments, from the snapshot/,
    );
    expect(filesIn(folder, ".log")).toEqual(before.slice(plan.removed.length));
    expect(filesIn(folder, ".log")).toHaveLength(plan.keptSegments);
    expect(await verify(folder)).toMatchObject({ fault: null });
    expect((await prune(folder)).stdout).toMatch(/^nothing to remove: /);

    // A restart recovers, also from the older of the two snapshots that were kept.
    const newest = join(folder, "journal", filesIn(folder, ".snapshot").at(-1) ?? "");
    renameSync(newest, `${newest}.away`);
    const reopened = await TestVenue.open(folder, { ...OPTIONS, checkpoints: null });
    await reopened.venue.close();
  });

  test("with a running venue: the venue removes the segments and continues", async () => {
    const folder = join(temporaryFolder(), "data");
    const driver = await liveVenue(folder);
    const { venue } = driver;
    onTestFinished(() => venue.close());
    const socket = new ControlSocket(
      folder,
      {
        cohort: new CohortControl(venue),
        bridge: new BridgeControl(venue),
        market: new MarketControl(venue),
        upgrade: new UpgradeControl(venue),
        configure: async () => undefined,
        leave: () => undefined,
        stepDown: (to) => stepDown(venue, to),
        prune: (below) => venue.pruneBelow(below),
      },
      pino({ enabled: false }),
    );
    await socket.open();
    onTestFinished(() => socket.close());
    const before = filesIn(folder, ".log").length;
    expect(await pruneElsewhere(folder)).toMatchObject({ code: 0, stderr: "" });
    expect(filesIn(folder, ".log").length).toBeLessThan(before);
    await driver.signIn(2);
    expect(venue.isStopped).toBe(false);
  });

  /** As the process does that feeds an archive: it has that many commands, and stands still. */
  async function archiveUpTo(folder: string, commands: number) {
    const feed = ArchiveFeed.open(folder);
    const made = await feed.next(commands, new AbortController().signal);
    feed.close();
    if (made === undefined) throw new Error("there is nothing to archive");
    noteArchived(folder, made.held);
    return made.held;
  }

  test("an archive that stands still: what it lacks stays, from a snapshot as old as it on", async () => {
    const folder = join(temporaryFolder(), "data");
    const driver = await liveVenue(folder);
    await driver.venue.close();
    const before = filesIn(folder, ".log");
    // As the venue's process does while PostgreSQL was never reached.
    const stopped = new AbortController();
    const report = {
      onProgress: () => undefined,
      onWait: () => undefined,
      onFailure: () => stopped.abort(),
    };
    const settings = {
      directory: folder,
      postgres: "postgresql://127.0.0.1:1/none",
      isNoted: true,
    };
    await new Indexer(settings, report, stopped.signal).run();
    const early = await prune(folder);
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining("up to batch 0,")]);
    await archiveUpTo(folder, 40);
    const refused = await prune(folder, "--keep-snapshots", "1");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("the archive")]);
    expect(filesIn(folder, ".log")).toEqual(before);

    const held = await archiveUpTo(folder, 220);
    // Newer snapshots push it out, but for the archive.
    const reopened = await TestVenue.open(folder, OPTIONS);
    for (let i = 0; i < 500; i++) await reopened.index(650_000 + i);
    await reopened.venue.history.flush();
    const newest = () => Number.parseInt(filesIn(folder, ".snapshot").at(-1) ?? "", 10);
    await until(() => newest() > held.batch + 450);
    await reopened.venue.close();
    expect(await prune(folder, "--keep-snapshots", "1")).toMatchObject({ code: 0, stderr: "" });
    expect(filesIn(folder, ".log")).not.toContain(before[0]);
    const feed = ArchiveFeed.open(folder, held);
    const next = await feed.next(10_000, new AbortController().signal);
    expect(next?.held.position).toBe(reopened.venue.seq);
    feed.close();
  });

  test("--backup: segments that the copy has byte for byte are removed, others not", async () => {
    const folder = join(temporaryFolder(), "data");
    await (await liveVenue(folder)).venue.close();
    const before = filesIn(folder, ".log");
    const copy = join(temporaryFolder(), "copy");
    cpSync(folder, copy, { recursive: true });
    const second = join(copy, "journal", before[1] ?? "");
    renameSync(second, `${second}.away`);
    const lacking = await prune(folder, "--backup", copy);
    expect([lacking.code, lacking.stderr]).toEqual([1, expect.stringContaining(before[1] ?? "")]);
    cpSync(`${second}.away`, second);
    truncateSync(second, 4_096);
    const torn = await prune(folder, "--backup", copy);
    expect([torn.code, torn.stderr]).toEqual([1, expect.stringContaining("differs")]);
    expect(filesIn(folder, ".log")).toEqual(before);
    renameSync(`${second}.away`, second);
    const dry = await prune(folder, "--dry-run");
    expect(dry.stdout).toContain("not compared with a backup");
    const done = await prune(folder, "--backup", copy);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toContain(`${copy} has all of them, byte for byte`);
    expect(filesIn(folder, ".log").length).toBeLessThan(before.length);
  });

  test("refuses while a restart could not recover afterwards", async () => {
    const folder = join(temporaryFolder(), "data");
    const { venue } = await liveVenue(folder);
    const before = filesIn(folder, ".log");
    const locked = await pruneElsewhere(folder);
    expect(locked).toMatchObject({ code: 1 });
    expect(locked.stderr).toContain(`in use by process ${process.pid}`);
    await venue.close();

    const many = await prune(folder, "--keep-snapshots", "9");
    expect(many).toMatchObject({ code: 1 });
    expect(many.stderr).toMatch(/nothing was pruned: \d of 9 snapshots are usable/);
    expect(await prune(folder, "--keep-snapshots", "0")).toMatchObject({ code: 2 });

    renameSync(join(folder, "history"), join(folder, "history-away"));
    const bare = await prune(folder);
    expect(bare).toMatchObject({ code: 1 });
    expect(bare.stderr).toContain("nothing was pruned: there is no history of this log");
    expect(filesIn(folder, ".log")).toEqual(before);
    expect(await prune(temporaryFolder())).toMatchObject({ code: 1 });
  });
});
