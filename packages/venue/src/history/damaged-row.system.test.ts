import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newLogKey } from "../receipts/log-key.js";
import { busyVenue } from "../testing/busy-venue.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import { verify } from "../verify/verify.js";
import {
  openEnvironment,
  openTables,
  type StoredTable,
  type TableName,
} from "./history-environment.js";
import { keyOf } from "./keys.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

/** Changes rows of a closed history; `change` gets each row and returns what takes its place. */
async function changeRows(name: TableName, change: (value: Buffer) => Buffer): Promise<number> {
  const environment = openEnvironment(join(folder, "history"), false);
  const table = openTables(environment, false)[name];
  let count = 0;
  for (const { key, value } of [...table.getRange({})]) {
    table.putSync(Buffer.from(key), change(Buffer.from(value)));
    count++;
  }
  await environment.close();
  return count;
}

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

describe("open: a damaged row that the replay reads", () => {
  const cut = (value: Buffer): Buffer => value.subarray(0, value.length - 3);
  const scramble = (value: Buffer): Buffer => Buffer.alloc(value.length, 0x41);

  test.each<[TableName, string, (value: Buffer) => Buffer]>([
    ["orders", "cut short", cut],
    ["orders", "of other bytes", scramble],
    ["positions", "cut short", cut],
    ["positions", "of other bytes", scramble],
    ["candles", "cut short", cut],
    ["candles", "of other bytes", scramble],
  ])("%s, %s: the history is set aside and rebuilt from the log", async (name, _, change) => {
    const shown = await folderBehind();
    expect(await changeRows(name, change)).toBeGreaterThan(0);
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
    expect(existsSync(join(folder, aside[0] ?? "", "data.mdb"))).toBe(true);
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
  const environment = openEnvironment(join(folder, "history"), false);
  openTables(environment, false).blocks.removeSync(keyOf(2));
  await environment.close();
  const { venue } = await TestVenue.open(folder, { promises });
  const given: (string | undefined)[] = [];
  const reissue = () => venue.promises?.receipts?.reissue(ack!.seq, (each) => given.push(each));
  expect(reissue).toThrow("block 2 is missing");
  await venue.close();
  expect(given).toEqual([]);
});

describe("verify: a row that differs from the log", () => {
  /** All tables except votes, which needs attestors. */
  const NAMES: readonly TableName[] = [
    "acks",
    "blocks",
    "fills",
    "trades",
    "candles",
    "funding",
    "orders",
    "nonces",
    "positions",
    "sessions",
    "changes",
    "deposits",
    "watchers",
    "ledger",
    "tree",
  ];

  test("an intact folder: every table is compared", async () => {
    const { driver } = await busyVenue(folder);
    await driver.venue.close();
    const environment = openEnvironment(join(folder, "history"), true);
    const tables = openTables(environment, true);
    const counts = NAMES.map((name) => tables[name].getKeysCount());
    await environment.close();
    expect(counts.every((count) => count > 0)).toBe(true);
    const total = counts.reduce((sum, count) => sum + count, 0);
    expect(await verify(folder)).toMatchObject({ fault: null, historyRows: total });
  });

  test("one bit of one row, a missing row, a row too many, in each table: named", async () => {
    const { driver } = await busyVenue(folder);
    await driver.venue.close();
    for (const name of NAMES) await harmTable(name);
  });

  async function harmTable(name: TableName): Promise<void> {
    const edit = async (work: (table: StoredTable) => void): Promise<string | undefined> => {
      const environment = openEnvironment(join(folder, "history"), false);
      work(openTables(environment, false)[name]);
      await environment.close();
      return (await verify(folder)).fault?.reason;
    };
    let key = Buffer.alloc(0);
    let value = Buffer.alloc(0);
    const flipped = await edit((table) => {
      const [row] = [...table.getRange({ limit: 1, reverse: true })];
      key = Buffer.from(row?.key ?? []);
      value = Buffer.from(row?.value ?? []);
      const changed = Buffer.from(value);
      changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
      table.putSync(key, changed);
    });
    expect(flipped).toContain(`${name}, row`);
    expect(await edit((table) => table.removeSync(key))).toContain(name);
    const other = Buffer.alloc(key.length, 0x7f);
    const added = await edit((table) => {
      table.putSync(key, value);
      table.putSync(other, value);
    });
    expect(added).toMatch(new RegExp(`${name}: \\d+ rows are stored, the log makes \\d+`));
    expect(await edit((table) => table.removeSync(other))).toBeUndefined();
  }
});
