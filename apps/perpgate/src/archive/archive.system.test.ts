/** The archive against a real PostgreSQL: the same rows as the store, also after kills of either side. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processesOf, until } from "@perpgate/journal/testing";
import { busyVenue, type TestVenue } from "@perpgate/venue/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { configurationFile, PerpgateProcess } from "../testing/perpgate-process.js";
import { PostgresServer, postgresPrograms } from "../testing/postgres-server.js";
import { Indexer } from "./indexer.js";
import { expectSameRows } from "./testing/same-rows.js";

const programs = postgresPrograms();

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function archive(server: PostgresServer, data: string, ...more: string[]): PerpgateProcess {
  return new PerpgateProcess(["archive", "--postgres", server.url, "--data", data, ...more]);
}

async function once(server: PostgresServer, data: string, ...more: string[]) {
  return archive(server, data, "--once", ...more).ended;
}

async function positionIn(server: PostgresServer): Promise<number> {
  const [row] = await server.query("SELECT position FROM archive").catch(() => []);
  return Number(row?.position ?? 0);
}

/** Orders of two traders, half of which fill. */
async function trade(driver: TestVenue, sessions: readonly number[], from: number, to: number) {
  const done: Promise<unknown>[] = [];
  for (let nonce = from; nonce < to; nonce++) {
    const side = nonce % 2 === 0 ? "long" : "short";
    const price = nonce % 3 === 0 ? 650_000 : side === "long" ? 640_000 : 660_000;
    done.push(driver.order(sessions[nonce % 2]!, nonce, side, price, 1));
  }
  await Promise.all(done);
  await driver.tick();
  await driver.venue.history.flush();
}

describe.skipIf(programs === undefined)("an archive in PostgreSQL", () => {
  test("archive --once, twice: all rows of the store, and the second adds what is new", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const { driver, sessions } = await busyVenue(data);
    const first = await once(server, data);
    expect(first.stderr).toBe("");
    expect(first.stdout).toBe(`archived up to position ${driver.venue.seq}\n`);
    expect(await expectSameRows(server, data)).toBeGreaterThan(50);
    await trade(driver, sessions, 100, 150);
    expect((await once(server, data, "--json")).code).toBe(0);
    await expectSameRows(server, data);
    const days = await server.query(
      "SELECT count(*) FROM pg_inherits WHERE inhparent = 'fill_rows'::regclass",
    );
    expect(Number(days[0]?.count)).toBe(1);
    await driver.venue.close();
  });

  test("the indexer and PostgreSQL killed again and again: no row is missing or double", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const { driver, sessions } = await busyVenue(data);
    await trade(driver, sessions, 1_000, 2_000);
    for (let kills = 0; kills < 4; kills++) {
      const before = await positionIn(server);
      await trade(driver, sessions, 2_000 + 200 * kills, 2_200 + 200 * kills);
      const indexer = archive(server, data, "--commands", "20");
      await until(async () => (await positionIn(server)) > before + 100 * (kills % 2));
      indexer.signal("SIGKILL");
      await indexer.ended;
    }
    const indexer = archive(server, data, "--commands", "10");
    for (let kills = 0; kills < 2; kills++) {
      const before = await positionIn(server);
      await trade(driver, sessions, 3_000 + 300 * kills, 3_300 + 300 * kills);
      await until(async () => (await positionIn(server)) > before);
      await server.kill();
      await server.run();
    }
    await until(async () => (await positionIn(server)) === driver.venue.seq);
    indexer.signal("SIGTERM");
    expect((await indexer.ended).code).toBe(0);
    await expectSameRows(server, data);
    await driver.venue.close();
  });

  // A kill while it went back would have left rows that the next one writes again.
  test("an indexer that starts again: the archive's position never goes back", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const { driver, sessions } = await busyVenue(data);
    await trade(driver, sessions, 100, 200);
    await once(server, data);
    const positions = [await positionIn(server)];
    for (let from = 200; from < 300; from += 25) await trade(driver, sessions, from, from + 25);
    const report = {
      onProgress: ({ position }: { readonly position: number }) => positions.push(position),
      onWait: () => undefined,
      onFailure: (reason: string) => expect.unreachable(reason),
    };
    const settings = { directory: data, postgres: server.url, once: true, commands: 20 };
    await new Indexer(settings, report, new AbortController().signal).run();
    expect(positions.length).toBeGreaterThan(3);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions.at(-1)).toBe(driver.venue.seq);
    await expectSameRows(server, data);
    await driver.venue.close();
  });

  test("two indexers: one waits until the other has ended", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const { driver, sessions } = await busyVenue(data);
    const first = archive(server, data);
    await until(async () => (await positionIn(server)) === driver.venue.seq);
    const second = archive(server, data);
    first.signal("SIGKILL");
    await first.ended;
    await trade(driver, sessions, 100, 120);
    await until(async () => (await positionIn(server)) === driver.venue.seq);
    second.signal("SIGTERM");
    expect((await second.ended).code).toBe(0);
    await expectSameRows(server, data);
    await driver.venue.close();
  });

  test("archive.postgres of a configuration names the database; without one: a wrong use", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    await (await busyVenue(data)).driver.venue.close();
    const config = configurationFile({ archive: { postgres: server.url } });
    const done = await new PerpgateProcess([
      "archive",
      "--once",
      "--config",
      config,
      "--data",
      data,
    ]).ended;
    expect(done).toMatchObject({ code: 0, stderr: "" });
    await expectSameRows(server, data);
    const wrong = await new PerpgateProcess(["archive", "--data", data]).ended;
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("archive.postgres")]);
  });

  test("a venue with archive.postgres feeds it, through a kill of the indexer, and ends it", async () => {
    const server = await PostgresServer.start(programs ?? "");
    const data = newFolder();
    const config = configurationFile({ archive: { postgres: server.url } });
    const words = ["--port", "0", "--data", data, "--config", config, "--log-level", "info"];
    const venue = new PerpgateProcess(words);
    await venue.url();
    await until(async () => (await positionIn(server)) > 20);
    const pids = processesOf("archive-process.js", venue.pid);
    expect(pids).toHaveLength(1);
    const before = await positionIn(server);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await until(async () => (await positionIn(server)) > before + 20);
    // Old rows stay until the archive has them: the store's thread reads how far it is.
    const noted = () => JSON.parse(readFileSync(join(data, "archived.json"), "utf8")).position;
    await until(() => noted() > before + 20);
    venue.signal("SIGTERM");
    const { code, stderr } = await venue.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("the archive is fed");
    expect(stderr).toContain("the archive's process ended and is started again");
    expect((await once(server, data)).code).toBe(0);
    await expectSameRows(server, data);
  });
});
