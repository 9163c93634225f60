/** `perpgate export` at a venue that runs: from its gateway and from its folder, read back by DuckDB. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { runVenue, startAheadOfClients, Trader } from "@perpgate/gateway/testing";
import { afterAll, describe, expect, test } from "vitest";
import { MAIN, temporaryFolder } from "../testing/perpgate-process.js";
import { TraderShell } from "../testing/trader-shell.js";

type Row = Readonly<Record<string, unknown>>;
const PUBLIC = [["trades"], ["candles"], ["candles", "--price", "mark"], ["funding"]];
const OWN = [["fills"], ["orders"], ["ledger"]];
const HOUR_MS = 3_600_000;

const at = await runVenue({ startMs: startAheadOfClients() }, afterAll);
const folder = temporaryFolder(afterAll);
const maker = await Trader.enter(at);
const quote = (side: "long" | "short", price: number) =>
  maker.place(maker.order({ side, type: "limit", price, margin: 1_000, leverage: 25 }));
const shell = new TraderShell(at.url, afterAll);
await at.setIndex("BTCUSD", 65_000);
await shell.text("login");
await quote("short", 65_100);
await quote("long", 64_900);
await shell.text("buy", "BTCUSD", "--size", "0.01");
await shell.text("close", "BTCUSD", "--part", "50%");
await shell.text("sell", "BTCUSD", "--size", "0.001", "--price", "65150", "--client-id", "mine-1");
// An hour later the positions pay funding; the next fill books it.
at.skip(HOUR_MS);
await at.execute({ kind: "AskTime", stampMs: at.nowMs() });
await at.setIndex("BTCUSD", 65_120);
await at.advance(2_000);
await quote("long", 65_150);
await at.venue.history.flush();
const fills = rowsOf(
  await shell.text("export", "fills", "--data", at.directory, "--format", "ndjson"),
);
/** The shell's account in the folder. */
const account = String(fills.find(({ role }) => role === "taker")?.account);

function rowsOf(ndjson: string): Row[] {
  return ndjson
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

async function exported(...words: string[]): Promise<Row[]> {
  return rowsOf(await shell.text("export", ...words, "--format", "ndjson"));
}

/** With numbers as JavaScript has them. */
async function readBack(sql: string): Promise<Row[]> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  try {
    const rows = (await connection.runAndReadAll(sql)).getRowObjectsJS();
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, cell]) => [
          name,
          typeof cell === "bigint" ? Number(cell) : cell,
        ]),
      ),
    );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

test.each([...PUBLIC, ...OWN].map((words) => [words.join(" "), words] as const))(
  "%s: a gateway and the folder of its venue have the same rows",
  async (_, words) => {
    const ofGateway = await exported(...words);
    const own = OWN.some(([kind]) => kind === words[0]) ? ["--account", account] : [];
    expect(ofGateway.length).toBeGreaterThan(0);
    expect(await exported(...words, ...own, "--data", at.directory)).toEqual(ofGateway);
  },
);

describe("formats", () => {
  test.each(OWN.concat(PUBLIC).map((words) => [words.join(" "), words] as const))(
    "%s: parquet and csv hold what ndjson has",
    async (name, words) => {
      const from = [...words, "--data", at.directory];
      const rows = await exported(...from);
      const parquet = join(folder, `${name}.parquet`);
      expect(await shell.text("export", ...from, "--format", "parquet", "--out", parquet)).toBe(
        `${rows.length} rows in ${parquet}\n`,
      );
      expect(await readBack(`SELECT * FROM read_parquet('${parquet}')`)).toEqual(rows);
      const csv = join(folder, `${name}.csv`);
      await shell.text("export", ...from, "--out", csv);
      expect(statSync(csv).mode & 0o077).toBe(0);
      const types = rows.length === 0 ? "" : textColumns(rows);
      const sql = `SELECT * FROM read_csv('${csv}', header = true, types = {${types}})`;
      expect(await readBack(sql)).toEqual(rows);
    },
  );

  /** DuckDB guesses times and ids. */
  function textColumns(rows: readonly Row[]): string {
    const names = Object.keys(rows[0] ?? {}).filter((name) =>
      rows.some((row) => typeof row[name] === "string"),
    );
    return names.map((name) => `'${name}': 'VARCHAR'`).join(", ");
  }

  test("nothing in the span: a header, an empty table", async () => {
    const from = ["trades", "--to", "2001-01-01", "--data", at.directory];
    expect(await shell.text("export", ...from)).toBe(
      "time_at,time_ms,symbol,id,price,size,taker_side\r\n",
    );
    const file = join(folder, "none.parquet");
    await shell.text("export", ...from, "--format", "parquet", "--out", file);
    expect(await readBack(`SELECT count(*) AS rows FROM read_parquet('${file}')`)).toEqual([
      { rows: 0 },
    ]);
  });
});

test("a span, a market: only its rows, the first included, the last not", async () => {
  const all = await exported("fills");
  const [first, last] = [all[0], all.at(-1)];
  const span = ["--from", String(first?.time_ms), "--to", String(last?.time_ms)];
  const within = all.filter(({ time_ms: time }) => Number(time) < Number(last?.time_ms));
  expect(within.length).toBeGreaterThan(0);
  expect(await exported("fills", ...span)).toEqual(within);
  expect(await exported("fills", ...span, "--data", at.directory, "--account", account)).toEqual(
    within,
  );
  expect(await exported("trades", "--symbol", "ETHUSD")).toEqual([]);
});

test("a reader that is gone: ends with code 0", () => {
  // The pipe is closed before the command writes to it.
  const piped = 'sleep 0.2; exec "$0" "$1" export trades --data "$2"';
  const { stderr, status } = spawnSync(
    "bash",
    [
      ...["-c", `set -o pipefail; (bash -c '${piped}' "$0" "$1" "$2") | true`],
      ...[process.execPath, MAIN, at.directory],
    ],
    { encoding: "utf8" },
  );
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
});

test("koinly: one signed amount a row, which add up to the balance", async () => {
  const file = join(folder, "tax.csv");
  await shell.text("export", "ledger", "--layout", "koinly", "--out", file);
  const [head, ...lines] = readFileSync(file, "utf8").trimEnd().split("\r\n");
  expect(head).toBe("Koinly Date,Amount,Currency,Label,Description,TxHash");
  expect(lines[0]).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC,10000,USD,reward,grant \d+,\d+-\d+$/,
  );
  const sum = lines.reduce(
    (micros, line) => micros + Math.round(Number(line.split(",")[1]) * 1e6),
    0,
  );
  const ledger = await exported("ledger");
  expect(sum).toBe(Math.round(Number(ledger.at(-1)?.balance_usd) * 1e6));
});

test("a file that exists: refused, and unchanged; one of a stopped export is replaced", async () => {
  const file = join(folder, "there.csv");
  writeFileSync(file, "mine");
  const refused = await shell.run("export", "trades", "--out", file);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("nothing is overwritten"),
  });
  expect(readFileSync(file, "utf8")).toBe("mine");
  const other = join(folder, "other.csv");
  writeFileSync(`${other}.part`, "half");
  await shell.text("export", "trades", "--out", other);
  expect(readFileSync(other, "utf8")).toMatch(/^time_at,/);
  expect(existsSync(`${other}.part`)).toBe(false);
});

test.each([
  ["fills --account 3", "--account is for fills, orders and ledger of a folder"],
  ["trades --format parquet", "parquet needs --out"],
  ["trades --price mark", "--resolution and --price are for candles"],
  ["fills --layout koinly", "--layout is for the ledger as csv"],
  ["trades --from tomorrow", '--from: "tomorrow" is not a whole number'],
  ["blocks", "kind must be one of trades, candles"],
])("written wrongly: export %s", async (words, problem) => {
  const { code, stderr } = await shell.run("export", ...words.split(" "));
  expect(stderr).toContain(problem);
  expect(code).toBe(2);
});
