/**
 * The store of the past: its size, how fast it is rebuilt from a log, what a page costs, and what it costs
 * the main thread; then as a venue that has run: how it starts, and the slowest page of every list.
 * `--commands 30000000` makes a large one. With `--postgres URL` also how fast an empty database becomes its
 * archive, with `--before FOLDER` the same of another release that is built in that folder.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  FileSnapshots,
  inspectLog,
  LOG_ID_BYTES,
  LOG_START,
  nodeDisk,
  SegmentReader,
} from "@perpgate/journal";
import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Replica, Venue } from "@perpgate/venue";
import {
  dataFolder,
  editStore,
  encodeReplicaState,
  FollowedHistory,
  newReplicaState,
  observe,
  openHistoryStore,
  prepare,
} from "@perpgate/venue/testing";
import { ThreadClock } from "./engine/thread-clock.js";
import { CONFIG, StreamedFlow } from "./engine/venue-flow.js";
import { inFolder } from "./harness/gateway.js";
import { parseOptions } from "./harness/options.js";
import { moduleOf } from "./harness/release-before.js";
import { Report } from "./harness/report.js";
import { recordLog } from "./recovery/recorded-log.js";

const PAGE = 100;
const PAGES = 2_000;
const PAGES_OF_EACH = 200;
const BYTES_BAR = 200;
const REBUILD_BAR = 40_000;
const SHARE_BAR = 5;
const START_BAR_MS = 10_000;
const PAGE_BAR_MS = 50;
const ARCHIVE_BAR = 20_000;
/** What docs/store.md says of an order. */
const DOCUMENTED_BYTES = 190;
const MAIN = fileURLToPath(new URL("../../apps/perpgate/bin/perpgate.js", import.meta.url));

const options = parseOptions({
  command: "npm run bench -- store",
  about: "The store of the past: bytes, rebuild, pages, the main thread's share.",
  numbers: {
    commands: ["commands in the log", 1_000_000, 100_000],
    accounts: ["accounts that trade", 10_000, 2_000],
  },
  texts: {
    before: "the folder of another built release",
    postgres: "the address of an empty database",
  },
});
const report = new Report("store");
const clock = new ThreadClock();

/** What the replay costs without a store. */
function replayMicros(journal: string, until: number): number {
  const state = newReplicaState();
  const replica = new Replica(state.engine, [
    { onCommand: (applied) => void observe(state, applied) },
  ]);
  const reader = new SegmentReader(nodeDisk, journal, LOG_START);
  const from = clock.ms() * 1_000;
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  reader.close();
  return clock.ms() * 1_000 - from;
}

/** What the same costs a venue that trades, whose rows another thread makes; that has them at once here. */
async function liveMicros(journal: string, until: number, folder: string): Promise<number> {
  const state = newReplicaState();
  const history = new FollowedHistory(0, state.rows, {
    onFailure: (error) => {
      throw error;
    },
  });
  const { store } = openHistoryStore(folder, new Uint8Array(LOG_ID_BYTES));
  const bytes = new Uint8Array(0);
  history.use({
    make: () => {
      const held = { ...store.held, position: history.seq };
      history.onMade({ bytes, count: 0, held, block: 0, blockHash: "" });
    },
    flush: () => undefined,
    onLogOnDisk: () => undefined,
    close: async () => undefined,
    abandon: async () => undefined,
  });
  history.keep();
  history.pass();
  history.begin(store);
  const replica = new Replica(state.engine, [
    {
      onCommand: (applied) => {
        const sealed = observe(state, applied);
        history.onCommand(applied, state.blocks.currentNumber, sealed);
      },
      onBatchEnd: (end, batch) => history.onBatchEnd(end, batch),
    },
  ]);
  const reader = new SegmentReader(nodeDisk, journal, LOG_START);
  const from = clock.ms() * 1_000;
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  const micros = clock.ms() * 1_000 - from;
  reader.close();
  await history.close();
  return micros;
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
  report.add(`${release}: a start that makes all rows`, rate, "commands/s");
  report.add("  main thread's share of an order of it", share, "µs");
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
  report.add("  of the size that the docs say", bytes / DOCUMENTED_BYTES, "", "0.8 to 1.2");
  report.add("  the outbox, which does not grow further", outbox / 1e6, "MB");
}

/** Of the log's end, as the thread that takes snapshots makes it. */
function writeSnapshot(journal: string, until: number): void {
  const state = newReplicaState();
  const replica = new Replica(state.engine, [
    {
      onCommand: (applied) => {
        const sealed = observe(state, applied);
        state.rows.onCommand(applied, state.blocks.currentNumber, sealed);
      },
    },
  ]);
  const reader = new SegmentReader(nodeDisk, journal, LOG_START);
  for (let batch = reader.next(until); batch !== undefined; batch = reader.next(until)) {
    replica.applyBatch(batch);
  }
  const log = inspectLog(nodeDisk, journal);
  if (log === undefined) throw new Error("there is no log");
  const snapshots = new FileSnapshots(nodeDisk, journal, log.logId);
  snapshots.write(reader.seq, encodeReplicaState(state, state.engine.snapshot()));
  reader.close();
}

/** With a snapshot at the end of the log: the start, and pages of every list at places all over it. */
async function measureVenue(directory: string, until: number, accounts: number): Promise<void> {
  writeSnapshot(dataFolder(directory).journal, until);
  const basis = { directory, config: CONFIG, listing: DEFAULT_MARKETS };
  const started = performance.now();
  const venue = await Venue.open({ ...basis, cohort: "open", checkpoints: null });
  const opened = performance.now() - started;
  report.add("a start with a snapshot", opened, "ms", "bar 10,000", opened / START_BAR_MS);
  const { views } = venue;
  const [market] = DEFAULT_MARKETS;
  const symbol = market?.symbol ?? "";
  type Page = { readonly limit: number; readonly before: string };
  const lists: Readonly<Record<string, (account: number, page: Page, ms: number) => unknown>> = {
    fills: (account, page) => views.fills(account, page),
    "fills of a market": (account, page) => views.fills(account, { ...page, symbol }),
    orders: (account, page) => views.orders(account, page),
    ledger: (account, page) => views.ledger(account, page),
    "payments of funding": (account, page) => views.fundingPayments(account, page),
    deposits: (account, page) => views.deposits(account, page),
    trades: (_account, page) => views.trades(symbol, page),
    "trades by time": (_account, { limit }, to) => views.trades(symbol, { limit, to }),
    candles: (_account, { limit }, before) => views.candles(symbol, "1m", { limit, before }),
  };
  const beginsMs = views.block(1)?.time ?? 0;
  const spanMs = views.timeMs - beginsMs;
  for (const [name, read] of Object.entries(lists)) {
    let slowest = 0;
    for (let i = 0; i < PAGES_OF_EACH; i++) {
      const place = (i + 0.5) / PAGES_OF_EACH;
      const page = { limit: PAGE, before: String(Math.ceil(place * venue.seq)) };
      const from = performance.now();
      read(1 + ((i * 7) % accounts), page, Math.floor(beginsMs + place * spanMs));
      slowest = Math.max(slowest, performance.now() - from);
    }
    report.add(`  ${name}, the slowest page`, slowest, "ms", "bar 50", slowest / PAGE_BAR_MS);
  }
  await venue.close();
}

/** The whole log into an empty database. */
function measureArchive(directory: string, commands: number, url: string): void {
  const started = performance.now();
  const args = [MAIN, "archive", "--once", "--data", directory, "--postgres", url];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`perpgate archive ended with ${status}: ${stderr}`);
  const rate = commands / ((performance.now() - started) / 1_000);
  report.add("archive into PostgreSQL", rate, "commands/s", "bar 20,000", rate / ARCHIVE_BAR);
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
  const flow = new StreamedFlow(options.number("accounts"), options.number("commands"));
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
      const { commands, orders, end } = await recordLog(journal, flow);
      const replay = replayMicros(journal, end.batch);
      await measure(name, open, directory, { orders, commands, replay });
      if (i > 0) return;
      const live = await liveMicros(journal, end.batch, data("live"));
      const share = (live - replay) / orders;
      report.add("main thread's share of an order", share, "µs", "bar 5", share / SHARE_BAR);
      const postgres = options.text("postgres");
      if (postgres !== undefined) measureArchive(directory, commands, postgres);
      await measureRebuild(directory, commands);
      await measureVenue(directory, end.batch, options.number("accounts"));
    });
  }
});
report.print(options.has("json"));
