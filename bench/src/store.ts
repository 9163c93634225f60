/**
 * The store of the past: its size, how fast it is rebuilt from a log, what a page costs, and what it costs
 * the main thread. With `--before FOLDER` the same of another release that is built in that folder.
 */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { LOG_START, LogReader, nodeDisk } from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Replica, Venue } from "@perpgate/venue";
import { dataFolder, editStore, newReplicaState, observe, prepare } from "@perpgate/venue/testing";
import { ThreadClock } from "./engine/thread-clock.js";
import { CONFIG, VenueFlow } from "./engine/venue-flow.js";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { moduleOf } from "./harness/release-before.js";
import { Report } from "./harness/report.js";
import { recordLog } from "./recovery/recorded-log.js";

const PAGE = 100;
const PAGES = 2_000;
const BYTES_BAR = 200;
const REBUILD_BAR = 40_000;
const SHARE_BAR = 5;

const options = parseOptions({
  command: "npm run bench -- store",
  about: "The store of the past: bytes, rebuild, pages, the main thread's share.",
  numbers: {
    commands: ["commands in the log", 1_000_000, 100_000],
    accounts: ["accounts that trade", 10_000, 2_000],
  },
  texts: { before: "the folder of another built release" },
});
const report = new Report("store");
const clock = new ThreadClock();

/** What the replay costs without a store. */
function replayMicros(journal: string, until: number): number {
  const state = newReplicaState();
  const replica = new Replica(state.engine, [
    { onCommand: (applied) => void observe(state, applied) },
  ]);
  const reader = new LogReader(nodeDisk, journal, LOG_START);
  const from = clock.ms() * 1_000;
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  reader.close();
  return clock.ms() * 1_000 - from;
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, name) => {
    const file = statSync(join(directory, name));
    // Sparse files count by what they occupy.
    return sum + (name === "lock.mdb" ? 0 : Math.min(file.size, file.blocks * 512));
  }, 0);
}

/** Of the private streams; 0 for a release without such tables. */
function outboxBytes(directory: string): number {
  if (!existsSync(join(dataFolder(directory).history, "history.sqlite"))) return 0;
  const sql = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB 'change_rows_[01]'";
  return editStore(directory, (database) => Number(prepare(database, sql).get()?.[0] ?? 0));
}

async function measure(
  release: string,
  open: typeof Venue.open,
  directory: string,
  { orders, commands, replay }: { orders: number; commands: number; replay: number },
): Promise<void> {
  const basis = { directory, config: CONFIG, listing: DEFAULT_MARKETS };
  const from = clock.ms() * 1_000;
  const started = performance.now();
  const waitedRecords = Number.MAX_SAFE_INTEGER;
  const venue = await open({ ...basis, cohort: "open", checkpoints: null, waitedRecords });
  await venue.history.flush();
  const seconds = (performance.now() - started) / 1_000;
  const share = (clock.ms() * 1_000 - from - replay) / orders;
  const rate = commands / seconds;
  report.add(`${release}: made by the main thread`, rate, "commands/s");
  report.add("  main thread's share of an order", share, "µs", "bar 5", share / SHARE_BAR);
  const pagesFrom = performance.now();
  let rows = 0;
  for (let i = 0; i < PAGES; i++) {
    rows += venue.views.fills(1 + (i % 100), { limit: PAGE }).length;
  }
  const perPage = ((performance.now() - pagesFrom) / PAGES) * 1_000;
  report.add(`  page of ${(rows / PAGES).toFixed(0)} fills`, perPage, "µs");
  await venue.close();
  const { history } = dataFolder(directory);
  const outbox = outboxBytes(directory);
  const bytes = (bytesIn(history) - outbox) / orders;
  report.add(
    "  on disk per order, without the outbox",
    bytes,
    "bytes",
    "bar 200",
    bytes / BYTES_BAR,
  );
  report.add("  the outbox, which does not grow further", outbox / 1e6, "MB");
}

/** In its thread, while the venue trades: how soon that opens, and the processor time of all threads. */
async function measureRebuild(directory: string, commands: number): Promise<void> {
  const basis = { directory, config: CONFIG, listing: DEFAULT_MARKETS };
  rmSync(dataFolder(directory).history, { recursive: true });
  const before = process.memoryUsage().rss;
  const usedFrom = process.cpuUsage();
  const started = performance.now();
  const venue = await Venue.open({ ...basis, cohort: "open", checkpoints: null, waitedRecords: 0 });
  const opened = performance.now() - started;
  let most = 0;
  while (venue.history.isRebuilding) {
    most = Math.max(most, process.memoryUsage().rss);
    await setTimeout(20);
  }
  const seconds = (performance.now() - started - opened) / 1_000;
  const { user, system } = process.cpuUsage(usedFrom);
  const rate = commands / seconds;
  report.add(
    "rebuild while the venue trades",
    rate,
    "commands/s",
    "bar 40,000",
    rate / REBUILD_BAR,
  );
  report.add("  the venue opens after, without a snapshot", opened, "ms");
  report.add(
    "  all threads, the venue's own replay included",
    (user + system) / commands,
    "µs a command",
  );
  report.add("  memory at most, beyond that before", (most - before) / 1e6, "MB");
  await venue.close();
}

await inFolder("store", async (folder) => {
  const data = (name: string) => join(folder, name);
  const flow = new VenueFlow(options.number("accounts"), options.number("commands"));
  const orders = flow.timed.filter(({ kind }) => kind === "PlaceOrder").length;
  const before = options.text("before");
  const releases: [string, typeof Venue.open][] = [["this release", (each) => Venue.open(each)]];
  if (before !== undefined) {
    const { Venue: other } = await moduleOf<{ Venue: typeof Venue }>(
      before,
      "packages/venue/dist/index.js",
    );
    releases.push([before, (each) => other.open(each)]);
  }
  for (const [i, [name, open]] of releases.entries()) {
    await report.step(name, async () => {
      const directory = data(`data-${i}`);
      const { journal } = dataFolder(directory);
      const { commands, end } = await recordLog(journal, flow);
      const replay = replayMicros(journal, end.batch);
      await measure(name, open, directory, { orders, commands, replay });
      if (i === 0) await measureRebuild(directory, commands);
    });
  }
});
report.print(options.has("json"));
