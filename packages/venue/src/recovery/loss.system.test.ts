/** A log that has lost its end, with a history, checkpoints or snapshots that show it. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCheckpointLines } from "../checkpoint/checkpoint-file.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import type { VenueLogger } from "../venue-options.js";
import { verify } from "../verify/verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const data = (): string => join(folder, "data");
const journal = (): string => join(data(), "journal");

interface Lives {
  /** Seq and orders when the log was copied that later replaces the whole one. */
  readonly early: number;
  readonly earlyOrders: unknown;
  readonly late: number;
}

/**
 * A closed folder with the log of an earlier moment: the same segment, with zeros instead of the later
 * commits. Everything else is of the later moment.
 */
async function shortenedLog(snapshots: "with snapshots" | "without" = "without"): Promise<Lives> {
  const taken = new SnapshotTaken();
  const driver = await TestVenue.open(data(), {
    checkpoints: snapshots === "without" ? null : { everyCommands: 4, everyMs: 3_600_000, keep: 3 },
    logger: taken,
  });
  await driver.index();
  const session = await driver.signIn(1);
  for (let nonce = 1; nonce <= 5; nonce++) await driver.order(session, nonce, "long", 640_000);
  const { seq: early } = driver.venue;
  const earlyOrders = driver.venue.views.orders(1);
  await driver.venue.history.flush();
  if (snapshots !== "without") await taken.wait(1);
  cpSync(journal(), join(folder, "early"), { recursive: true });
  for (let nonce = 6; nonce <= 20; nonce++) await driver.order(session, nonce, "long", 640_000);
  await driver.venue.history.flush();
  if (snapshots !== "without") await taken.wait(3);
  await driver.venue.close();
  // With the WriterLeft of the close.
  const { seq: late } = driver.venue;
  for (const name of readdirSync(journal())) {
    if (name.endsWith(".log")) rmSync(join(journal(), name));
  }
  for (const name of readdirSync(join(folder, "early"))) {
    if (name.endsWith(".log")) cpSync(join(folder, "early", name), join(journal(), name));
  }
  return { early, earlyOrders, late };
}

class SnapshotTaken implements VenueLogger {
  private count = 0;
  private waiting: (() => void)[] = [];

  info(_fields: object, message: string): void {
    if (message !== "snapshot taken") return;
    this.count++;
    for (const wake of this.waiting.splice(0)) wake();
  }

  warn(): void {}

  error(): void {}

  async wait(count: number): Promise<void> {
    while (this.count < count) {
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
    }
  }
}

/**
 * Digests of all files except locks, and SQLite's index of the write-ahead file, which every process that
 * opens the store writes.
 */
function everything(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const files = names
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile() && !/lock$|-shm$|-wal$/.test(path));
  return Object.fromEntries(
    files.map((path) => [
      relative(directory, path),
      createHash("sha256").update(readFileSync(path)).digest("hex"),
    ]),
  );
}

const open = (more: Parameters<typeof TestVenue.open>[1] = {}) => TestVenue.open(data(), more);

describe("a log that has lost its end", () => {
  test("the history is ahead: refused with both positions, nothing is changed", async () => {
    const { early, late } = await shortenedLog();
    const before = everything(data());
    await expect(open()).rejects.toMatchObject({
      code: "log_behind",
      message: expect.stringMatching(
        new RegExp(`ends at position ${early} .*the history shows position ${late} `),
      ),
    });
    expect(everything(data())).toEqual(before);
    // Again: a refusal must not make the next start pass.
    await expect(open()).rejects.toMatchObject({ code: "log_behind" });
  });

  test("only checkpoints are ahead: refused with both positions", async () => {
    await shortenedLog("with snapshots");
    rmSync(join(data(), "history"), { recursive: true });
    for (const name of readdirSync(journal())) {
      if (name.endsWith(".snapshot")) rmSync(join(journal(), name));
    }
    const newest = readCheckpointLines(join(data(), "checkpoints.jsonl")).lines.at(-1)?.checkpoint;
    await expect(open()).rejects.toThrow(
      `checkpoints.jsonl shows position ${newest?.position} (batch ${newest?.batch})`,
    );
    expect((await verify(data())).fault?.reason).toContain("checkpoints.jsonl shows position");
  });

  test("only a snapshot is ahead: refused with both positions", async () => {
    await shortenedLog("with snapshots");
    rmSync(join(data(), "history"), { recursive: true });
    rmSync(join(data(), "checkpoints.jsonl"));
    await expect(open()).rejects.toThrow(/\.snapshot shows position \d+/);
    expect((await verify(data())).fault?.reason).toMatch(/\.snapshot shows position \d+/);
  });

  test("verify: a fault with both positions", async () => {
    const { early, late } = await shortenedLog();
    expect((await verify(data())).fault).toEqual({
      position: early,
      reason: expect.stringMatching(
        new RegExp(`^the log ends at position ${early} .* the history shows position ${late} `),
      ),
    });
  });

  test("no log but a history: refused, and no new log is created", async () => {
    await shortenedLog();
    for (const name of readdirSync(journal())) {
      if (name.endsWith(".log")) rmSync(join(journal(), name));
    }
    const before = everything(data());
    await expect(open()).rejects.toThrow(/there is no log, but the history shows position/);
    await expect(open({ acceptLoss: true })).rejects.toThrow(/there is no log/);
    expect(everything(data())).toEqual(before);
  });
});

describe("an accepted loss", () => {
  test("the proofs are kept, and the venue continues from the log's end", async () => {
    const { early, earlyOrders, late } = await shortenedLog("with snapshots");
    const before = everything(data());
    const errors: object[] = [];
    const logger: VenueLogger = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields, message) => errors.push({ ...fields, message }),
    };
    const driver = await open({ acceptLoss: true, logger });
    expect(driver.venue.views.orders(1)).toEqual(earlyOrders);
    // A start appends one command, its join.
    expect(driver.venue.seq).toBe(early + 1);
    await driver.venue.close();
    const [kept = ""] = readdirSync(data()).filter((name) => name.startsWith("given-up-"));
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining("LOSS ACCEPTED"),
        keptIn: join(data(), kept),
        end: { record: early },
        proofs: expect.arrayContaining([expect.objectContaining({ record: late })]),
      },
    ]);
    const after = everything(join(data(), kept));
    for (const name of ["history/history.sqlite", "checkpoints.jsonl", "journal/0000000001.log"]) {
      expect(after[name], name).toBe(before[name]);
    }
    const given = Object.keys(before).filter((name) => name.endsWith(".snapshot"));
    const stayed = given.filter((name) => existsSync(join(data(), name)));
    for (const name of given.filter((each) => !stayed.includes(each))) {
      expect(after[name], name).toBe(before[name]);
    }
    expect(stayed.length).toBeLessThan(given.length);
    expect(await verify(data())).toMatchObject({ fault: null });
    // Without the flag from now on.
    await (await open()).venue.close();
  });

  test("nothing is lost: the flag changes nothing", async () => {
    const { venue } = await open();
    await venue.close();
    const again = await open({ acceptLoss: true });
    await again.venue.close();
    expect(readdirSync(data()).filter((name) => name.startsWith("given-up-"))).toEqual([]);
  });
});
