/** `verify` on checkpoints and snapshots, and on the history of a pruned log. */

import { appendFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileSnapshots, inspectLog, nodeDisk } from "@perpgate/journal";
import { until } from "@perpgate/journal/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCheckpointLines } from "../checkpoint/checkpoint-file.js";
import type { TableName } from "../history/history-environment.js";
import { STORE_FILE } from "../history/sqlite.js";
import { newLogKey } from "../receipts/log-key.js";
import { encodeReplicaState, newReplicaState } from "../recovery/replica-state.js";
import { editStore, flipped, lastRow, putRow, runSql } from "../testing/edit-store.js";
import { removeFolder, TestVenue, temporaryFolder } from "../testing/test-venue.js";
import type { VenueOptions } from "../venue-options.js";
import { verify } from "./verify.js";

let folder = "";
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => removeFolder(folder));

const checkpointFile = (): string => join(folder, "checkpoints.jsonl");

/** A venue with some orders and at least that number of checkpoints. */
async function venueWithCheckpoints(
  orders: number,
  checkpoints: number,
  more: Partial<VenueOptions> = {},
): Promise<TestVenue> {
  const driver = await TestVenue.open(folder, {
    ...more,
    checkpoints: { everyCommands: 40, everyMs: 3_600_000, keep: 2 },
    segmentBytes: 16_384,
  });
  await driver.index();
  const sessions = [await driver.signIn(1), await driver.signIn(2)];
  for (let nonce = 1; nonce <= orders; nonce++) {
    await trade(driver, sessions, nonce);
    if (nonce % 20 === 0) await driver.tick();
  }
  await driver.venue.history.flush();
  await until(() => readCheckpointLines(checkpointFile()).lines.length >= checkpoints);
  return driver;
}

/** One trader buys what the other has sold. */
async function trade(driver: TestVenue, sessions: readonly number[], nonce: number): Promise<void> {
  const side = nonce % 2 === 0 ? "short" : "long";
  await driver.order(sessions[nonce % 2] ?? 0, nonce, side, 650_000, 1);
}

describe("checkpoints.jsonl", () => {
  test("bad lines in the middle and a torn one at the end: skipped and counted", async () => {
    const driver = await venueWithCheckpoints(100, 2);
    await driver.venue.close();
    const lines = readFileSync(checkpointFile(), "utf8").split("\n").slice(0, -1);
    const bad = ["\u0000\u0000\u0000", '{"position":1}', "not JSON"];
    writeFileSync(checkpointFile(), `${[lines[0], ...bad, ...lines.slice(1)].join("\n")}\n`);
    appendFileSync(checkpointFile(), '{"position":12,"ba');
    expect(await verify(folder)).toMatchObject({
      fault: null,
      checkpoints: lines.length,
      badCheckpointLines: bad.length,
    });
    // And a start appends to it.
    const again = await TestVenue.open(folder);
    await again.venue.close();
    expect(readCheckpointLines(checkpointFile()).lines).toHaveLength(lines.length);
  });
});

describe("snapshots", () => {
  test("a byte of one has changed: its file is named", async () => {
    const driver = await venueWithCheckpoints(100, 2);
    await driver.venue.close();
    const journal = join(folder, "journal");
    const [name = ""] = readdirSync(journal).filter((each) => each.endsWith(".snapshot"));
    const bytes = readFileSync(join(journal, name));
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    writeFileSync(join(journal, name), bytes);
    expect((await verify(folder)).fault?.reason).toBe(
      `the snapshot ${join(journal, name)} is damaged`,
    );
  });

  test("one is intact and holds another state: its file is named", async () => {
    const { venue } = await TestVenue.open(folder);
    await venue.close();
    const journal = join(folder, "journal");
    const log = inspectLog(nodeDisk, journal);
    if (log === undefined) throw new Error("there is no log");
    const other = newReplicaState();
    const body = encodeReplicaState(other, other.engine.snapshot());
    const { file } = new FileSnapshots(nodeDisk, journal, log.logId).write(log.end, body);
    expect((await verify(folder)).fault?.reason).toBe(`the snapshot ${file} holds another state`);
  });
});

/** The column of an order's row. */
const REMAINING = 18;

describe("a pruned log", () => {
  async function prunedFolder(): Promise<void> {
    // The last snapshot is some orders before the end.
    const driver = await venueWithCheckpoints(325, 6);
    expect(driver.venue.prune()).toBeGreaterThan(0);
    await driver.venue.close();
  }

  /** Flips a bit of the last row. */
  function changeLastRow(name: TableName, column: number): void {
    editStore(folder, (database) => {
      const row = lastRow(database, name);
      putRow(database, name, row.with(column, flipped(row.at(column))));
    });
  }

  test("its history: compared as far as the remaining log determines it", async () => {
    await prunedFolder();
    const report = await verify(folder);
    expect(report.fault).toBeNull();
    expect(report.from).toBeGreaterThan(0);
    expect(report.historyRows).toBeGreaterThan(20);
    const columns = [
      ["fills", -1, "fills"],
      ["orders", REMAINING, "orders"],
      // The digest of the signed body.
      ["orders", -1, "acks"],
      ["blocks", -1, "blocks"],
    ] as const;
    for (const [name, column, named] of columns) {
      changeLastRow(name, column);
      expect((await verify(folder)).fault?.reason).toContain(`${named}, row`);
      changeLastRow(name, column);
    }
    expect((await verify(folder)).fault).toBeNull();
  });

  test("its signed checkpoint: the signature is checked, the root is compared", async () => {
    const { key: logKey } = newLogKey("venue.example/log");
    const promises = { logKey, checkpointMs: 60_000 };
    const driver = await venueWithCheckpoints(300, 6, { promises });
    await driver.venue.promises?.log.advance();
    const compared = async () => (await verify(folder, { logKey })).receipts.checkpoint;
    expect(await compared()).toMatchObject({ isSignatureChecked: true, uncoveredBlocks: 0 });
    expect(driver.venue.prune()).toBeGreaterThan(0);
    await driver.venue.close();
    expect(await compared()).toMatchObject({ isSignatureChecked: true, uncoveredBlocks: 0 });
  });

  test("and damaged: what is damaged, without a position", async () => {
    await prunedFolder();
    const journal = join(folder, "journal");
    const [first = ""] = readdirSync(journal)
      .filter((name) => name.endsWith(".log"))
      .sort();
    const bytes = readFileSync(join(journal, first));
    // In the header, which is looked at before the log is read.
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    writeFileSync(join(journal, first), bytes);
    const { fault } = await verify(folder);
    expect(fault).toEqual({ position: null, reason: expect.stringContaining("damaged") });
  });

  test("its history has a damaged row that the start reads: refused, nothing changed", async () => {
    // The last snapshot is some orders before the end.
    const driver = await venueWithCheckpoints(325, 6);
    expect(driver.venue.prune()).toBeGreaterThan(0);
    const history = join(folder, "history");
    cpSync(history, join(folder, "older"), { recursive: true });
    const sessions = [await driver.signIn(3), await driver.signIn(4)];
    await trade(driver, sessions, 1);
    await trade(driver, sessions, 2);
    await driver.venue.close();
    await removeFolder(history);
    cpSync(join(folder, "older"), history, { recursive: true });
    runSql(folder, "UPDATE candle_rows SET high = x'4141'");
    const before = readFileSync(join(history, STORE_FILE));
    await expect(TestVenue.open(folder, { segmentBytes: 16_384 })).rejects.toMatchObject({
      name: "HistoryLost",
      message: expect.stringMatching(/cannot be rebuilt: .*nothing was removed/),
    });
    expect(readFileSync(join(history, STORE_FILE)).equals(before)).toBe(true);
  });
});
