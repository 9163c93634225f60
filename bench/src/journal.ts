/**
 * The journal beside a bare loop of write + fdatasync on the same disk in the same run.
 *
 *   npm run bench:journal [-- --help]
 *
 * Every command is a batch of its own with its own promise, the dearest way to append. The bare
 * loop writes the same record into a preallocated file and syncs it, one after another. Recovery
 * opens a log of many records (each in a batch of its own, and in batches of 32) and delivers all of
 * it to a reader that does nothing. The folder is made below TMPDIR.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LOG_START, openJournal } from "@perpgate/journal";
import { benchOptions } from "./options.js";
import { median, percentile, Report } from "./report.js";

const RECORD = new Uint8Array(400).fill(7);
const IN_FLIGHT = [1, 16, 256];
const ADDED_BAR_MS = 0.2;

const options = benchOptions({
  command: "bench:journal",
  about: "Append to durable, and reading back, beside a bare write + fdatasync loop.",
  amounts: {
    records: { about: "records to read back", full: 1_000_000, short: 200_000 },
    milliseconds: { about: "length of a turn of appends", full: 1_500, short: 700 },
    rounds: { about: "turns of each, of which the middle one counts", full: 3, short: 3 },
  },
});
const { records: RECORDS, milliseconds: TURN_MS, rounds: ROUNDS } = options.amounts;
const report = new Report("journal", ["signatures, engine and network"]);

interface Turn {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function summarise(latencies: readonly number[], elapsedMs: number): Turn {
  return {
    perSecond: (latencies.length / elapsedMs) * 1_000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  };
}

function bareLoop(directory: string): Turn {
  const file = openSync(join(directory, "bare"), "w+");
  const zeros = new Uint8Array(1 << 20);
  for (let at = 0; at < 64; at++) writeSync(file, zeros, 0, zeros.length, at << 20);
  fdatasyncSync(file);
  const latencies: number[] = [];
  const started = performance.now();
  for (let now = started, at = 0; now - started < TURN_MS; at += RECORD.length) {
    writeSync(file, RECORD, 0, RECORD.length, at);
    fdatasyncSync(file);
    const done = performance.now();
    latencies.push(done - now);
    now = done;
  }
  const turn = summarise(latencies, performance.now() - started);
  closeSync(file);
  return turn;
}

async function appendLoop(directory: string, inFlight: number): Promise<Turn> {
  const journal = await openJournal({ directory });
  await journal.read(journal.end, () => undefined).live;
  const latencies: number[] = [];
  let counter = 0;
  const lane = async (until: number): Promise<void> => {
    for (let now = performance.now(); now < until; ) {
      await journal.append({ writer: 1, counter: counter++ }, [RECORD]);
      const done = performance.now();
      latencies.push(done - now);
      now = done;
    }
  };
  const lanes = (until: number) => Promise.all(Array.from({ length: inFlight }, () => lane(until)));
  await lanes(performance.now() + 300);
  latencies.length = 0;
  const started = performance.now();
  await lanes(started + TURN_MS);
  const turn = summarise(latencies, performance.now() - started);
  await journal.close();
  return turn;
}

async function appends(): Promise<void> {
  const bareTurns: Turn[] = [];
  const turns = new Map<number, Turn[]>(IN_FLIGHT.map((inFlight) => [inFlight, []]));
  // The machine is not equally fast all the time, so the contestants take turns.
  for (let round = 0; round < ROUNDS; round++) {
    bareTurns.push(await inFresh(bareLoop));
    for (const [inFlight, done] of turns) {
      done.push(await inFresh((directory) => appendLoop(directory, inFlight)));
    }
  }
  const bare = middle(bareTurns);
  report.add("bare write + fdatasync", bare.perSecond, "commands/s");
  report.add("  p50", bare.p50, "ms");
  report.detail("  p99", bare.p99, "ms");
  for (const [inFlight, done] of turns) {
    const { perSecond, p50, p99 } = middle(done);
    const beside = inFlight === 256 ? "bare, bar 20×" : "bare";
    const name = `append to durable, ${inFlight} in flight`;
    report.add(name, perSecond, "commands/s", beside, perSecond / bare.perSecond);
    report.detail("  p50", p50, "ms", "bare", p50 / bare.p50);
    report.detail("  p99", p99, "ms", "bare", p99 / bare.p99);
    if (inFlight !== 1) continue;
    const added = p50 - bare.p50;
    const bar = `bar ${ADDED_BAR_MS} ms`;
    report.add("  added to the bare loop's p50", added, "ms", bar, added / ADDED_BAR_MS);
  }
}

async function writeLog(directory: string, perBatch: number): Promise<void> {
  const writer = await openJournal({ directory });
  const batch = Array.from({ length: perBatch }, () => RECORD);
  for (let counter = 0; counter * perBatch < RECORDS; ) {
    const group: Promise<void>[] = [];
    for (; group.length < 512 && counter * perBatch < RECORDS; counter++) {
      group.push(writer.append({ writer: 1, counter }, batch));
    }
    await Promise.all(group);
  }
  await writer.close();
}

async function readBack(directory: string, perBatch: number): Promise<void> {
  await writeLog(directory, perBatch);
  const started = performance.now();
  const journal = await openJournal({ directory });
  const opened = performance.now();
  let seen = 0;
  await journal.read(LOG_START, (one) => {
    seen += one.records.length;
  }).live;
  const read = performance.now();
  await journal.close();
  if (seen < RECORDS) throw new Error(`${seen} of ${RECORDS} records came back`);
  const name = `${RECORDS.toLocaleString("en-US")} records, ${perBatch} a batch`;
  report.add(`open and read ${name}`, RECORDS / ((read - started) / 1_000), "records/s");
  report.detail("  open, the whole log checked", opened - started, "ms");
  report.detail("  read", read - opened, "ms");
}

/** Runs in a new directory and removes it. */
async function inFresh<T>(run: (directory: string) => T | Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "perpgate-bench-journal-"));
  try {
    return await run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The middle one of each figure. */
function middle(turns: readonly Turn[]): Turn {
  return {
    perSecond: median(turns.map(({ perSecond }) => perSecond)),
    p50: median(turns.map(({ p50 }) => p50)),
    p99: median(turns.map(({ p99 }) => p99)),
  };
}

await report.step("appends", appends);
for (const perBatch of [1, 32]) {
  await report.step(`reading back, ${perBatch} a batch`, () =>
    inFresh((directory) => readBack(directory, perBatch)),
  );
}
report.print(options.json);
