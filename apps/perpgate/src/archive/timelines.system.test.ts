/**
 * Which folder may go on with an archive, and which core may read it: those whose log has the same past, whatever
 * the log's id is.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { busyVenue, copyLog, TestVenue } from "@perpgate/venue/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PostgresServer, postgresPrograms } from "../testing/postgres-server.js";
import { ArchiveReads } from "./archive-reads.js";
import { Indexer } from "./indexer.js";
import { expectSameRows } from "./testing/same-rows.js";

const programs = postgresPrograms();
/** Begun at another time: another venue. */
const OTHER = { clock: () => 1_800_000_000_200 };

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Orders of two traders, half of which fill. */
async function trade(driver: TestVenue, sessions: readonly number[], from: number, to: number) {
  const done: Promise<unknown>[] = [];
  for (let nonce = from; nonce < to; nonce++) {
    const side = nonce % 2 === 0 ? "long" : "short";
    done.push(driver.order(sessions[nonce % 2]!, nonce, side, 650_000, 1));
  }
  await Promise.all(done);
  await driver.venue.history.flush();
}

describe.skipIf(programs === undefined)("the past of an archive", () => {
  let server: PostgresServer;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start(programs ?? "", (stop) => ends.push(stop));
  });
  afterAll(() => Promise.all(ends.map((end) => end())));
  beforeEach(() => server.empty());

  /** Up to the log's end. */
  async function feed(directory: string): Promise<void> {
    const onFailure = (reason: string): void => {
      throw new Error(reason);
    };
    const report = { onProgress: () => undefined, onWait: () => undefined, onFailure };
    const settings = { directory, postgres: server.url, once: true };
    await new Indexer(settings, report, new AbortController().signal).run();
  }

  async function position(): Promise<number> {
    const [row] = await server.query("SELECT position FROM archive");
    return Number(row?.position);
  }

  /** Resolves if the core may read rows up to the position. */
  async function readable({ venue }: TestVenue, upTo: number): Promise<void> {
    const reads = new ArchiveReads(server.url, { warn: () => undefined });
    try {
      await venue.views.archived(reads.query).need(upTo + 1, 1);
    } finally {
      await reads.close();
    }
  }

  test("another venue's: refused, and the archive stays as it is", async () => {
    const [data, other] = [newFolder(), newFolder()];
    await (await busyVenue(data)).driver.venue.close();
    const { driver: stranger } = await busyVenue(other, OTHER);
    await feed(data);
    await expect(feed(other)).rejects.toThrow("the archive is of another venue");
    await expectSameRows(server, data);
    await expect(readable(stranger, 1)).rejects.toThrow("the archive is of another venue");
    await stranger.venue.close();
  });

  // Each core of a cluster writes what it reads of the stream into a log with an id of its own.
  test("another core's of the same venue: it goes on with the archive, and reads it", async () => {
    const [data, other] = [newFolder(), newFolder()];
    const { driver, sessions } = await busyVenue(data);
    await feed(data);
    await trade(driver, sessions, 100, 200);
    await driver.venue.close();
    await copyLog(data, other);
    const core = await TestVenue.open(other);
    expect(core.venue.logId).not.toBe(driver.venue.logId);
    await feed(other);
    expect(await position()).toBe(core.venue.seq);
    await expectSameRows(server, data);
    await readable(core, core.venue.seq);
    await core.venue.close();
  });

  test.each([
    { where: "in the open block", isSealed: false },
    { where: "some blocks ago", isSealed: true },
  ])("a restored log that parted from it $where: refused, not read", async ({ isSealed }) => {
    const [data, restored] = [newFolder(), newFolder()];
    const { driver, sessions } = await busyVenue(data);
    await driver.tick();
    await driver.venue.close();
    cpSync(data, restored, { recursive: true });
    const first = await TestVenue.open(data);
    await trade(first, sessions, 100, 103);
    if (isSealed) await first.tick();
    await first.venue.close();
    await feed(data);
    const second = await TestVenue.open(restored);
    await expect(feed(restored)).rejects.toThrow("it has lost its end");
    await trade(second, [sessions[1], sessions[0]], 1_000, 1_100);
    await second.tick();
    await second.venue.history.flush();
    await expect(feed(restored)).rejects.toThrow("the archive has another past than this log");
    await expectSameRows(server, data);
    const upTo = await position();
    if (isSealed) await expect(readable(second, upTo)).rejects.toThrow("another past");
    await second.venue.close();
  });

  /** As releases before wrote it: it named the log by its id alone. */
  async function makeVersionTwo(logId: string): Promise<void> {
    await server.query("ALTER TABLE archive RENAME TO newer");
    await server.query(`CREATE TABLE archive (
      one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL, format integer NOT NULL, log text NOT NULL,
      position bigint NOT NULL, batch bigint NOT NULL, record bigint NOT NULL
    )`);
    await server.query(
      `INSERT INTO archive SELECT one, 2, format, '${logId}', position, batch, record FROM newer`,
    );
    await server.query("DROP TABLE newer");
  }

  test("of version 2: migrated, and gone on with by a log of the same past alone", async () => {
    const [data, other] = [newFolder(), newFolder()];
    const { driver, sessions } = await busyVenue(data);
    await trade(driver, sessions, 100, 150);
    const { driver: stranger, sessions: others } = await busyVenue(other, OTHER);
    await trade(stranger, others, 100, 300);
    await stranger.venue.close();
    await feed(data);
    await makeVersionTwo(driver.venue.logId);
    await expect(feed(other)).rejects.toThrow("the archive has another past than this log");
    await trade(driver, sessions, 150, 200);
    await feed(data);
    expect(await position()).toBe(driver.venue.seq);
    await expectSameRows(server, data);
    const [row] = await server.query("SELECT version, venue FROM archive");
    expect(row).toEqual({ version: 3, venue: driver.venue.listing.venueId });
    await readable(driver, driver.venue.seq);
    await driver.venue.close();
  });
});
