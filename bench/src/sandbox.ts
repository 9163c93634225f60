/**
 * What a test that starts a venue waits for, and how fast its time can pass. A replayed book is compared
 * with the engine alone, which applies the commands that the replay has logged.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOG_START, nodeDisk, openJournal, SegmentReader } from "@perpgate/journal";
import { type SandboxVenue, startVenue } from "@perpgate/sandbox";
import { Replica } from "@perpgate/venue";
import { dataFolder } from "@perpgate/venue/testing";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { median, Report } from "./harness/report.js";

const options = parseOptions({
  command: "npm run bench -- sandbox",
  about: "Starting a sandbox, letting its time pass, and replaying a recorded book.",
  numbers: {
    starts: ["venues that are started", 20, 5],
    hours: ["hours of manual time", 12, 2],
    updates: ["changes of levels in the recording", 100_000, 20_000],
  },
});
const ORDER = { symbol: "BTCUSD", side: "long", type: "market", margin: 100, leverage: 5 } as const;
const BEGIN_MS = Date.parse("2026-01-01T00:00:00Z");
const SIDE_LEVELS = 10;
const UPDATES_PER_SECOND = 100;
const report = new Report("sandbox");

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

/** The first one of a process also loads and compiles the code. */
async function starts(): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i <= options.number("starts"); i++) {
    let venue: SandboxVenue | undefined;
    const ms = await timed(async () => {
      venue = await startVenue({ seed: i + 1 });
      const trader = await venue.trader();
      await trader.placeOrder(ORDER);
    });
    times.push(ms);
    await venue?.stop();
  }
  const [first = 0, ...later] = times;
  report.add("start to first order, the first of a process", first, "ms");
  const usual = median(later);
  report.add("  a later one, median", usual, "ms", "bar 500 ms", usual / 500);
}

async function quietHours(): Promise<void> {
  const venue = await startVenue();
  const hours = options.number("hours");
  // New code is compiled while it runs.
  await venue.advance("30m");
  const ms = await timed(() => venue.advance(`${hours}h`));
  await venue.stop();
  const perSecond = hours / (ms / 1_000);
  report.add("manual time, a quiet market", perSecond, "hours/s", "bar 1", perSecond);
}

/** A walk of the price with changes of the levels around it. */
function recording(updates: number): string {
  const lines = ["time_ms,symbol,side,price,size,snapshot"];
  for (let i = 0; i < updates; i++) {
    const timeMs = BEGIN_MS + Math.floor((i * 1_000) / UPDATES_PER_SECOND);
    const middle = 60_000 + 50 * Math.sin(i / 5_000);
    const level = 1 + (i % SIDE_LEVELS);
    const isBid = i % 2 === 0;
    const price = (Math.round(middle) + (isBid ? -level : level)).toFixed(1);
    const size = 0.1 + ((i * 7_919) % 100) / 100;
    lines.push(`${timeMs},BTCUSD,${isBid ? "bid" : "ask"},${price},${size.toFixed(2)},false`);
  }
  return `${lines.join("\n")}\n`;
}

/** Milliseconds of the engine alone for all commands of a log. */
async function engineAlone(directory: string): Promise<number> {
  const journal = await openJournal({ directory, verify: "tail" });
  const { batch: end } = journal.recovery.end;
  await journal.close();
  const replica = new Replica();
  const reader = new SegmentReader(nodeDisk, directory, LOG_START);
  const next = () => reader.next(end);
  const started = performance.now();
  for (let batch = next(); batch !== undefined; batch = next()) replica.applyBatch(batch);
  reader.close();
  return performance.now() - started;
}

async function replay(folder: string): Promise<void> {
  const file = join(folder, "book.csv");
  writeFileSync(file, recording(options.number("updates")));
  const data = join(folder, "data");
  const venue = await startVenue({ folder: data, start: BEGIN_MS });
  const { bookUpdates, elapsedMs, recordedMs } = await venue.replay([file]);
  await venue.stop();
  const perSecond = (ms: number) => bookUpdates / (ms / 1_000);
  const alone = perSecond(await engineAlone(dataFolder(data).journal));
  rmSync(file);
  report.add("engine alone, the commands of the replay", alone, "updates/s");
  const rate = perSecond(elapsedMs);
  report.add("replayed book updates", rate, "updates/s", "engine alone", rate / alone);
  report.add("  times the clock", recordedMs / elapsedMs, "×");
}

await report.step("starts", starts);
await report.step("quiet hours", quietHours);
await inFolder("sandbox", (folder) => report.step("replay", () => replay(folder)));
report.print(options.has("json"));
