/**
 * The journal, compared with a bare loop of write + fdatasync on the same disk in the same run.
 *
 * Every command is appended as a batch with its own promise, the most expensive form. The bare loop
 * writes the same record into a preallocated file and syncs it. The files are below TMPDIR.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openJournal } from "@perpgate/journal";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { inTurns, median, Report, repeat } from "./harness/report.js";

const WRITER = "c".repeat(32);
const RECORD = new Uint8Array(400).fill(7);
const IN_FLIGHT = [1, 16, 256];
const ADDED_BAR_MS = 0.2;
const FILE_MIB = 64;
const WARM_UP_MS = 300;

const options = parseOptions({
  command: "npm run bench -- journal",
  about: "Append to durable, compared with a bare write + fdatasync loop.",
  numbers: {
    milliseconds: ["length of a turn of appends", 1_500, 700],
    rounds: ["turns of each, of which the middle one counts", 3, 3],
  },
});
const TURN_MS = options.number("milliseconds");
const report = new Report("journal");

type Turn = Awaited<ReturnType<typeof repeat>>;

async function bareLoop(directory: string): Promise<Turn> {
  const file = openSync(join(directory, "bare"), "w+");
  const zeros = new Uint8Array(1 << 20);
  for (let at = 0; at < FILE_MIB; at++) writeSync(file, zeros, 0, zeros.length, at << 20);
  fdatasyncSync(file);
  let at = 0;
  const turn = await repeat(TURN_MS, 1, () => {
    writeSync(file, RECORD, 0, RECORD.length, at);
    fdatasyncSync(file);
    at += RECORD.length;
  });
  closeSync(file);
  return turn;
}

async function appendLoop(directory: string, inFlight: number): Promise<Turn> {
  const journal = await openJournal({ directory });
  await journal.read(journal.end, () => undefined).live;
  let counter = 0;
  const append = () => journal.append({ writer: WRITER, counter: counter++ }, [RECORD]);
  await repeat(WARM_UP_MS, inFlight, append);
  const turn = await repeat(TURN_MS, inFlight, append);
  await journal.close();
  return turn;
}

async function appends(): Promise<void> {
  // The bare loop first.
  const loops = [bareLoop, ...IN_FLIGHT.map((n) => (folder: string) => appendLoop(folder, n))];
  const turns = await inTurns("journal", options.number("rounds"), loops, (loop) =>
    inFolder("journal", loop),
  );
  const [bare, ...journal] = turns.map((all) => ({
    rate: median(all.map(({ perSecond }) => perSecond)),
    p50: median(all.map(({ p50 }) => p50)),
  }));
  report.add("bare write + fdatasync", bare!.rate, "commands/s");
  report.add("  p50", bare!.p50, "ms");
  for (const [i, { rate, p50 }] of journal.entries()) {
    const inFlight = IN_FLIGHT[i];
    const against = inFlight === 256 ? "bare, bar 20×" : "bare";
    const metric = `append to durable, ${inFlight} in flight`;
    report.add(metric, rate, "commands/s", against, rate / bare!.rate);
    if (inFlight !== 1) continue;
    const added = p50 - bare!.p50;
    const bar = `bar ${ADDED_BAR_MS} ms`;
    report.add("  added to the bare loop's p50", added, "ms", bar, added / ADDED_BAR_MS);
  }
}

await report.step("appends", appends);
report.print(options.has("json"));
