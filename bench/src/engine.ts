/**
 * The engine's speed, compared with peers on the same operations in the same run. Commands are made
 * before the clock starts; decoding, signatures, the journal and the network are left out.
 */
import { type BareBook, BookOperations, LadderBook, NodejsOrderBook } from "./engine/bare-books.js";
import { againstBefore, applyAll, manyAccounts } from "./engine/comparisons.js";
import { type CrowdSize, EngineCrowd } from "./engine/crowd.js";
import { memoryOfOrders } from "./engine/memory.js";
import { fastest, Stopwatch } from "./engine/stopwatch.js";
import { INDEX_TICKS, LEVELS, VenueFlow } from "./engine/venue-flow.js";
import { parseOptions } from "./harness/options.js";
import { progress, Report } from "./harness/report.js";

/** The largest single command in every phase in the life of a full venue. */
async function largestCommands(report: Report, size: CrowdSize): Promise<void> {
  const stopwatch = new Stopwatch();
  const phases: readonly [name: string, run: (crowd: EngineCrowd) => void][] = [
    ["sign-ins", (crowd) => crowd.signIn()],
    [`${size.accounts} positions opened`, (crowd) => crowd.openPositions()],
    [`${size.orders} orders placed`, (crowd) => crowd.rest()],
    ["orders that meet 2,000 makers", (crowd) => crowd.sweep()],
    [`${size.stops} stops placed`, (crowd) => crowd.placeStops()],
    ["quiet ticks", (crowd) => crowd.ticks(50, INDEX_TICKS)],
    ["stops reached, and waiting", (crowd) => crowd.reachStops()],
    ["a funding hour", (crowd) => crowd.fund()],
    ["a fall of 12 %", (crowd) => crowd.crash()],
  ];
  // A small venue first, so that no code is compiled for the first time.
  const smallSize = { accounts: 20_000, orders: 20_000, stops: 10_000 };
  const small = new EngineCrowd(smallSize, (engine, command) => engine.apply(command));
  for (const [, run] of phases) run(small);
  const crowd = new EngineCrowd(size, (engine, command) => stopwatch.apply(engine, command));
  for (const [name, run] of phases) {
    progress(`engine:   ${name} …`);
    run(crowd);
    const found = await stopwatch.largest();
    const against =
      `bar 5 ms; ${found.above5Ms} of ${found.commands} above; ${found.leftOut} left out, the ` +
      `machine was slow; garbage collection ${found.longestCollectionMs.toFixed(1)} ms`;
    report.add(`largest command, ${name}: ${found.kind}`, found.ms, "ms", against, found.ms / 5);
  }
  stopwatch.end();
}

const ACCOUNTS = 10_000;

const options = parseOptions({
  command: "npm run bench -- engine",
  about: "The bare book and the whole apply path, compared with peers on the same operations.",
  numbers: {
    commands: ["commands through the book and the whole engine", 400_000, 200_000],
    turns: ["turns, of which the fastest counts", 4, 2],
    accounts: ["accounts of the full venue, each with a position", 500_000, 100_000],
    orders: ["resting orders of the full venue", 1_000_000, 200_000],
    stops: ["stops that its mark reaches together", 100_000, 20_000],
    kept: ["open orders whose memory is measured, of each kind", 500_000, 200_000],
  },
  texts: {
    before: "folder of a built release whose apply path is compared with this one",
    only: "some parts, with commas between: book, apply, accounts, largest, memory",
  },
});
const COMMANDS = options.number("commands");
const turns = options.number("turns");
const report = new Report("engine");
const flow = new VenueFlow(ACCOUNTS, COMMANDS);

function bareBook(): void {
  const operations = new BookOperations(flow);
  const perSecond = (make: () => BareBook, share: number): number =>
    1 / fastest(turns, () => 1 / operations.perSecond(make(), share));
  const ours = perSecond(() => new LadderBook(), 1);
  report.add(`bare book, ${LEVELS} levels`, ours, "operations/s", "bar 3,000,000", ours / 3e6);
  // The package is some twenty times slower: all operations would take most of the bench.
  const npm = perSecond(() => new NodejsOrderBook(), 0.1);
  report.add("  nodejs-order-book", npm, "operations/s", "bare book is", ours / npm);
}

function wholePath(): void {
  const ms = fastest(turns, () => applyAll(flow.prepare(), flow.timed));
  const perSecond = (flow.timed.length * 1000) / ms;
  const metric = `apply, ${ACCOUNTS} accounts, ${LEVELS} levels`;
  report.add(metric, perSecond, "commands/s", "bar 300,000", perSecond / 300_000);
}

const before = options.text("before");
const accounts = options.number("accounts");
const size = { accounts, orders: options.number("orders"), stops: options.number("stops") };
const parts: Readonly<Record<string, () => void | Promise<void>>> = {
  book: bareBook,
  apply: wholePath,
  accounts: () => manyAccounts(report, ACCOUNTS, accounts, COMMANDS / 2),
  largest: () => largestCommands(report, size),
  memory: () => memoryOfOrders(report, options.number("kept")),
};
const only = options.list("only", Object.keys(parts));
// First: the other parts make V8 compile this release's code for venues of many kinds.
if (before !== undefined) {
  await report.step("both releases", () => againstBefore(report, before, flow, turns + 2));
}
for (const [part, work] of Object.entries(parts)) {
  if (only.includes(part)) await report.step(part, work);
}
report.print(options.has("json"));
