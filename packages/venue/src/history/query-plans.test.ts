/** No read of a table may take longer the older the venue is. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeFolder, temporaryFolder } from "../testing/test-venue.js";
import { TABLES } from "./history-environment.js";
import { type HistoryStore, openHistoryStore } from "./history-store.js";
import { CODECS } from "./row-codecs.js";
import { prepare } from "./sqlite.js";

/** What reads all rows before it returns the first. */
const READS_ALL = /TEMP B-TREE|CO-ROUTINE|MATERIALIZE/;

let folder: string;
let store: HistoryStore;

beforeEach(async () => {
  folder = await temporaryFolder();
  ({ store } = openHistoryStore(`${folder}/history`, Buffer.alloc(16)));
});
afterEach(async () => {
  store.environment.close();
  await removeFolder(folder);
});

test.each(TABLES)("%s: its ends, its ranges and its rows by key are found by an index", (table) => {
  const { from, where = "TRUE", keys, columns } = CODECS[table];
  const select = `SELECT ${[...keys, ...columns].join(", ")} FROM ${from} WHERE ${where}`;
  const tuple = `(${keys.join(", ")})`;
  const marks = `(${keys.map(() => "1").join(", ")})`;
  const order = (direction: string) => keys.map((key) => `${key} ${direction}`).join(", ");
  const range = `${select} AND ${tuple} >= ${marks} AND ${tuple} < ${marks}`;
  for (const sql of [
    `${select} AND ${keys.map((key) => `${key} = 1`).join(" AND ")}`,
    ...["ASC", "DESC"].flatMap((direction) => [
      `${select} ORDER BY ${order(direction)} LIMIT 1`,
      `${range} ORDER BY ${order(direction)} LIMIT 1`,
    ]),
  ]) {
    const plan = prepare(store.environment, `EXPLAIN QUERY PLAN ${sql}`).all();
    const steps = plan.map((step) => String(step[3])).join("; ");
    expect(steps, sql).not.toMatch(READS_ALL);
  }
});
