import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newLogKey } from "../receipts/log-key.js";
import { busyVenue } from "../testing/busy-venue.js";
import { editStore, flipped, lastRow, putRow, runSql, sqlTable } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";
import type { TableName } from "./history-environment.js";
import { CODECS } from "./row-codecs.js";
import { type Cell, type Database, prepare, STORE_FILE } from "./sqlite.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** A folder whose history is some commands behind its log, as after a crash. */
async function folderBehind(): Promise<unknown> {
  const { driver, sessions } = await busyVenue(folder);
  const history = join(folder, "history");
  const older = join(folder, "older");
  cpSync(history, older, { recursive: true });
  // Fills a resting order, in an existing candle and position.
  await driver.order(sessions[1], 9, "long", 655_000, 20);
  const shown = [driver.venue.views.orders(1), driver.venue.views.fills(2, { limit: 100 })];
  await driver.venue.close();
  await removeFolder(history);
  cpSync(older, history, { recursive: true });
  await removeFolder(older);
  return shown;
}

describe("open: a damaged row that the replay writes", () => {
  test.each<[TableName, string, string]>([
    ["orders", "a missing number", "price = NULL"],
    ["orders", "other bytes", "price = x'4141'"],
    ["positions", "other bytes", "lots = x'4141'"],
    ["candles", "other bytes", "open = x'4141'"],
  ])("%s, %s: the history is set aside and rebuilt from the log", async (name, _, change) => {
    const shown = await folderBehind();
    runSql(folder, `UPDATE ${sqlTable(name)} SET ${change}`);
    const warnings: object[] = [];
    const { venue } = await TestVenue.open(folder, {
      logger: {
        info: () => undefined,
        warn: (fields, message) => warnings.push({ ...fields, message }),
        error: () => undefined,
      },
    });
    expect([venue.views.orders(1), venue.views.fills(2, { limit: 100 })]).toEqual(shown);
    await venue.close();
    expect(warnings).toEqual([
      {
        reason: expect.stringContaining("the history is damaged"),
        movedTo: expect.stringContaining("set-aside"),
        message: "the history is rebuilt from the log",
      },
    ]);
    const aside = readdirSync(folder).filter((each) => each.startsWith("history.set-aside-"));
    expect(existsSync(join(folder, aside[0] ?? "", STORE_FILE))).toBe(true);
    expect((await verify(folder)).fault).toBeNull();
  });

  // No row builds on a stored one.
  test.each<[TableName, string]>([
    ["positions", "lots = NULL WHERE account = 1 AND market = 0"],
    ["candles", "open = NULL WHERE series < 6 AND time = (SELECT max(time) FROM candle_rows)"],
  ])("%s, a missing number: it is written again", async (name, change) => {
    const shown = await folderBehind();
    runSql(folder, `UPDATE ${sqlTable(name)} SET ${change}`);
    const { venue } = await TestVenue.open(folder);
    expect([venue.views.orders(1), venue.views.fills(2, { limit: 100 })]).toEqual(shown);
    await venue.close();
    expect((await verify(folder)).fault).toBeNull();
  });
});

test("reissue: the block before that of the acknowledgement is missing: no receipt, an error", async () => {
  const promises = { logKey: newLogKey("venue.example/log").key, checkpointMs: 60_000 };
  // A start replays the log from its last snapshot, and compares the blocks from there on.
  const checkpoints = { everyCommands: 15, everyMs: 3_600_000, keep: 2 };
  const { driver } = await busyVenue(folder, { promises, checkpoints });
  const isSnapshot = (name: string) => name.endsWith(".snapshot");
  await until(() => readdirSync(join(folder, "journal")).some(isSnapshot));
  const { firstPosition, lastPosition } = driver.venue.history.block(3)!;
  const [ack] = driver.venue.history.acksBetween(firstPosition, lastPosition);
  await driver.venue.close();
  runSql(folder, "DELETE FROM block_rows WHERE number = 2");
  const { venue } = await TestVenue.open(folder, { promises });
  const given: (string | undefined)[] = [];
  const reissue = () => venue.promises?.receipts?.reissue(ack!.seq, (each) => given.push(each));
  expect(reissue).toThrow("block 2 is missing");
  await venue.close();
  expect(given).toEqual([]);
});

describe("verify: a row that differs from the log", () => {
  /** A column of each table whose rows are stored; votes need attestors. */
  const NAMES = [
    ["blocks", "header"],
    ["fills", "balance"],
    ["trades", "lots"],
    ["candles", "high"],
    ["funding", "rate"],
    ["orders", "remaining"],
    ["positions", "cost"],
    ["sessions", "message"],
    ["changes", "words"],
    ["deposits", null],
    ["watchers", "accounts"],
    ["ledger", "amount"],
    ["tree", "hash"],
    ["markets", "lot_size"],
  ] as const;

  test("an intact folder: every table is compared", async () => {
    const { driver } = await busyVenue(folder);
    await driver.venue.close();
    const counts = editStore(folder, (database) =>
      [...NAMES.map(([name]) => name), "acks" as const, "nonces" as const].map((name) => {
        const [count] = prepare(database, `SELECT count(*) FROM ${CODECS[name].from}`).get() ?? [];
        return Number(count);
      }),
    );
    expect(counts.every((count) => count > 0)).toBe(true);
    const total = counts.reduce((sum, count) => sum + count, 0);
    expect(await verify(folder)).toMatchObject({ fault: null, historyRows: total });
  });

  test("one bit of one row, a missing row, a row too many, in each table: named", async () => {
    const { driver } = await busyVenue(folder);
    await driver.venue.close();
    for (const [name, column] of NAMES) await harmTable(name, column);
  });

  test("a field of an acknowledgement in its order's row, a missing acknowledgement: named", async () => {
    const { driver } = await busyVenue(folder);
    await driver.venue.close();
    const last = "WHERE id = (SELECT max(id) FROM order_rows)";
    const [digest] = editStore(folder, (database) =>
      prepare(database, `SELECT hex(ack_digest) FROM order_rows ${last}`).all().flat(),
    );
    const changes = [
      ["ack_block = ack_block + 1", "ack_block = ack_block - 1"],
      ["ack_digest = zeroblob(32)", `ack_digest = x'${String(digest)}'`],
    ];
    for (const [change, back] of changes) {
      runSql(folder, `UPDATE order_rows SET ${change} ${last}`);
      expect((await verify(folder)).fault?.reason).toContain("acks, row");
      runSql(folder, `UPDATE order_rows SET ${back} ${last}`);
    }
    expect((await verify(folder)).fault).toBeNull();
    runSql(folder, `UPDATE order_rows SET ack_status = NULL ${last}`);
    expect((await verify(folder)).fault?.reason).toMatch(/acks, row .*: missing from the history/);
  });

  async function harmTable(name: TableName, column: string | null): Promise<void> {
    const edit = async (work: (database: Database) => void): Promise<string | undefined> => {
      editStore(folder, work);
      return (await verify(folder)).fault?.reason;
    };
    const table = sqlTable(name);
    const { row, at, keys } = editStore(folder, (database) => {
      const columns = prepare(database, `PRAGMA table_info(${table})`).all();
      const isKey = (cells: readonly Cell[]) => Number(cells[5]) > 0;
      return {
        row: lastRow(database, name),
        at: columns.findIndex(([, each]) => each === column),
        keys: columns.flatMap((cells, i) => (isKey(cells) ? [[String(cells[1]), i] as const] : [])),
      };
    });
    if (column !== null) {
      const changed = row.with(at, flipped(row[at]));
      expect(await edit((database) => putRow(database, name, changed))).toContain(`${name}, row`);
    }
    const where = keys.map(([key, i]) => `${key} = ${String(row[i])}`).join(" AND ");
    const removed = await edit((database) => database.exec(`DELETE FROM ${table} WHERE ${where}`));
    // The names of orders are an index of their rows.
    expect(removed).toMatch(name === "orders" ? /nonces/ : name);
    const [first = "", firstAt = 0] = keys[0] ?? [];
    const added = await edit((database) => {
      putRow(database, name, row);
      putRow(database, name, row.with(firstAt, 2 ** 40));
    });
    // An acknowledgement is part of its order's row.
    const counted = name === "orders" ? "acks" : name;
    expect(added).toMatch(new RegExp(`${counted}: \\d+ rows are stored, the log makes \\d+`));
    const sql = `DELETE FROM ${table} WHERE ${first} = ${2 ** 40}`;
    expect(await edit((database) => database.exec(sql))).toBeUndefined();
  }
});
