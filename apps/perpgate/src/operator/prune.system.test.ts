/** `perpgate prune` on real folders, next to a live venue and without one. */

import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { verify } from "@perpgate/venue";
import { TestVenue } from "@perpgate/venue/testing";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
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
  for (let nonce = 1; nonce <= 300; nonce++) await driver.order(session, nonce, "long", 640_000);
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
