/** What an indexer waits for: no reader of the archive, and no host that has vanished. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { POLL } from "@perpgate/journal/testing";
import { busyVenue } from "@perpgate/venue/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PostgresServer, postgresPrograms } from "../testing/postgres-server.js";
import { Indexer } from "./indexer.js";
import { Postgres } from "./postgres.js";
import { expectSameRows } from "./testing/same-rows.js";

const programs = postgresPrograms();
const DAY_MS = 86_400_000;

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-archive-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A way to the server's socket that loses all answers from a commit on, as when its host vanishes. */
async function wayTo(file: string, commit: number) {
  const way = { url: "", isCut: false, commits: 0 };
  const server = createServer((client: Socket) => {
    const own = connect(file);
    client.on("data", (bytes) => {
      if (bytes.includes("COMMIT") && ++way.commits === commit) way.isCut = true;
      own.write(bytes);
    });
    own.on("data", (bytes) => way.isCut || client.write(bytes));
    for (const [from, to] of [
      [client, own],
      [own, client],
    ] as const) {
      from.on("error", () => undefined).on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  way.url = `postgresql://postgres@127.0.0.1:${address.port}/postgres`;
  return way;
}

describe.skipIf(programs === undefined)("an indexer", () => {
  let server: PostgresServer;
  const ends: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    server = await PostgresServer.start(programs ?? "", (stop) => ends.push(stop));
  });
  afterAll(() => Promise.all(ends.map((end) => end())));
  beforeEach(() => server.empty());

  async function feed(directory: string, url = server.url, failures: string[] = []): Promise<void> {
    const report = {
      onProgress: () => undefined,
      onWait: () => undefined,
      onFailure: (reason: string) => void failures.push(reason),
    };
    const settings = { directory, postgres: url, once: true, answerMs: 2_000, commands: 5 };
    await new Indexer(settings, report, new AbortController().signal).run();
  }

  test("a query that reads for hours while a day begins: it delays neither the rows nor other queries", async () => {
    const data = newFolder();
    const { driver } = await busyVenue(data);
    await feed(data);
    const reader = await Postgres.connect(server.url);
    onTestFinished(() => reader.close());
    await reader.query("BEGIN");
    await reader.query("SELECT count(*) FROM fill_rows, order_rows, ack_rows, ledger_rows");
    const stampMs = driver.venue.views.timeMs + DAY_MS;
    await driver.submit({ kind: "AskTime", stampMs });
    await driver.index();
    const [maker, taker] = [await driver.signIn(3), await driver.signIn(4)];
    await driver.order(maker, 1, "short", 650_000, 10);
    await driver.order(taker, 1, "long", 650_000, 10);
    await driver.submit({ kind: "Tick", slot: Math.floor(stampMs / 200) + 1 });
    await driver.venue.history.flush();
    const failures: string[] = [];
    await feed(data, server.url, failures);
    expect(failures).toEqual([]);
    await expectSameRows(server, data);
    const parts = "SELECT 1 FROM pg_inherits WHERE inhparent = 'order_rows'::regclass";
    expect(await server.query(parts)).toHaveLength(2);
    await driver.venue.close();
  });

  test("a host that vanishes before it answers a commit: given up, and the rows go on later", async () => {
    const data = newFolder();
    const { driver } = await busyVenue(data);
    const way = await wayTo(server.socket, 3);
    const failures: string[] = [];
    const feeding = feed(data, way.url, failures);
    await expect.poll(() => failures.join(), POLL).toContain("has not answered for 2000 ms");
    expect(way.isCut).toBe(true);
    way.isCut = false;
    await feeding;
    await expectSameRows(server, data);
    await driver.venue.close();
  });
});
