/**
 * The journal, compared with a bare loop of write + fdatasync on the same disk in the same run.
 *
 *   npm run bench:journal [-- --help]
 *
 * Every command is appended as a batch with its own promise, the most expensive form. The bare loop
 * writes the same record into a preallocated file and syncs it. Reading opens a log and delivers all
 * of it to a reader that does nothing. The files are below TMPDIR.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { LOG_START, openJournal } from "@perpgate/journal";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { Latencies, median, Report } from "./harness/report.js";

const WRITER = "c".repeat(32);
const RECORD = new Uint8Array(400).fill(7);
const IN_FLIGHT = [1, 16, 256];
const ADDED_BAR_MS = 0.2;
const FILE_MIB = 64;
const WARM_UP_MS = 300;

const options = parseOptions({
  command: "bench:journal",
  about: "Append to durable, and reading back, compared with a bare write + fdatasync loop.",
  numbers: {
    records: ["records to read back", 1_000_000, 200_000],
    milliseconds: ["length of a turn of appends", 1_500, 700],
    rounds: ["turns of each, of which the middle one counts", 3, 3],
  },
});
const RECORDS = options.number("records");
const TURN_MS = options.number("milliseconds");
const report = new Report("journal", ["signatures, engine and network"]);

interface Turn {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function turnOf(latencies: Latencies, startedMs: number): Turn {
  const { count, p50, p99 } = latencies.summary();
  return { perSecond: (count / (performance.now() - startedMs)) * 1_000, p50, p99 };
}

function bareLoop(directory: string): Turn {
  const file = openSync(join(directory, "bare"), "w+");
  const zeros = new Uint8Array(1 << 20);
  for (let at = 0; at < FILE_MIB; at++) writeSync(file, zeros, 0, zeros.length, at << 20);
  fdatasyncSync(file);
  const latencies = new Latencies();
  const started = performance.now();
  for (let now = started, at = 0; now - started < TURN_MS; at += RECORD.length) {
    writeSync(file, RECORD, 0, RECORD.length, at);
    fdatasyncSync(file);
    const done = performance.now();
    latencies.record(done - now);
    now = done;
  }
  const turn = turnOf(latencies, started);
  closeSync(file);
  return turn;
}

async function appendLoop(directory: string, inFlight: number): Promise<Turn> {
  const journal = await openJournal({ directory });
  await journal.read(journal.end, () => undefined).live;
  let counter = 0;
  const appendUntil = async (until: number): Promise<Latencies> => {
    const latencies = new Latencies();
    const one = async (): Promise<void> => {
      for (let now = performance.now(); now < until; ) {
        await journal.append({ writer: WRITER, counter: counter++ }, [RECORD]);
        const done = performance.now();
        latencies.record(done - now);
        now = done;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    return latencies;
  };
  await appendUntil(performance.now() + WARM_UP_MS);
  const started = performance.now();
  const turn = turnOf(await appendUntil(started + TURN_MS), started);
  await journal.close();
  return turn;
}

async function appends(): Promise<void> {
  const bareTurns: Turn[] = [];
  const turns = IN_FLIGHT.map((): Turn[] => []);
  for (let round = 0; round < options.number("rounds"); round++) {
    bareTurns.push(await inFolder("journal", bareLoop));
    for (const [i, inFlight] of IN_FLIGHT.entries()) {
      turns[i]!.push(await inFolder("journal", (folder) => appendLoop(folder, inFlight)));
    }
  }
  const middle = (of: readonly Turn[], key: keyof Turn): number => median(of.map((t) => t[key]));
  const bare = middle(bareTurns, "perSecond");
  const [bareP50, bareP99] = [middle(bareTurns, "p50"), middle(bareTurns, "p99")];
  report.add("bare write + fdatasync", bare, "commands/s");
  report.add("  p50", bareP50, "ms");
  report.detail("  p99", bareP99, "ms");
  for (const [i, inFlight] of IN_FLIGHT.entries()) {
    const [rate, p50] = [middle(turns[i]!, "perSecond"), middle(turns[i]!, "p50")];
    const p99 = middle(turns[i]!, "p99");
    const against = inFlight === 256 ? "bare, bar 20×" : "bare";
    report.add(
      `append to durable, ${inFlight} in flight`,
      rate,
      "commands/s",
      against,
      rate / bare,
    );
    report.detail("  p50", p50, "ms", "bare", p50 / bareP50);
    report.detail("  p99", p99, "ms", "bare", p99 / bareP99);
    if (inFlight !== 1) continue;
    const added = p50 - bareP50;
    const bar = `bar ${ADDED_BAR_MS} ms`;
    report.add("  added to the bare loop's p50", added, "ms", bar, added / ADDED_BAR_MS);
  }
}

async function writeLog(directory: string, perBatch: number): Promise<void> {
  const writer = await openJournal({ directory });
  const batch = Array<Uint8Array>(perBatch).fill(RECORD);
  let pending: Promise<void>[] = [];
  for (let counter = 0; counter * perBatch < RECORDS; counter++) {
    pending.push(writer.append({ writer: WRITER, counter }, batch));
    if (pending.length < 512) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
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

await report.step("appends", appends);
for (const perBatch of [1, 32]) {
  await report.step(`reading back, ${perBatch} a batch`, () =>
    inFolder("journal", (folder) => readBack(folder, perBatch)),
  );
}
report.print(options.has("json"));
