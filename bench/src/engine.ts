/**
 * The engine's speed, compared with peers on the same operations in the same run.
 *
 *   npm run bench:engine [-- --help]
 */
import { type Command, Engine, LONG, SHORT } from "@perpgate/engine";
import { accountsDue } from "@perpgate/engine/reading";
import { type BareBook, LadderBook, NodejsOrderBook } from "./engine/bare-books.js";
import { BookOperations } from "./engine/book-operations.js";
import { Crowd, type CrowdSize } from "./engine/crowd.js";
import { type BareEngine, engineOf } from "./engine/release-before.js";
import { fastest, Stopwatch } from "./engine/stopwatch.js";
import { INDEX_TICKS, openingCommands, order, sessionOf, VenueFlow } from "./engine/venue-flow.js";
import { parseOptions } from "./harness/options.js";
import { median, progress, Report } from "./harness/report.js";

const SEED = 20_261_115;
const LEVELS = 3_000;
const ACCOUNTS = 10_000;

const options = parseOptions({
  command: "bench:engine",
  about: "The bare book and the whole apply path, compared with peers on the same operations.",
  numbers: {
    operations: ["operations on the bare book", 1_000_000, 300_000],
    commands: ["commands through the whole engine", 400_000, 200_000],
    positions: ["positions to mark", 100_000, 100_000],
    turns: ["turns, of which the fastest counts", 4, 2],
    accounts: ["accounts of the full venue, each with a position", 500_000, 100_000],
    orders: ["resting orders of the full venue", 1_000_000, 200_000],
    stops: ["stops that its mark reaches together", 100_000, 20_000],
  },
  texts: {
    before: "folder of a built release whose apply path is compared with this one",
    only: "some parts, with commas between: book, touch, apply, marking, accounts, largest",
  },
});
const OPERATIONS = options.number("operations");
const POSITIONS = options.number("positions");
const turns = options.number("turns");

const report = new Report("engine", [
  "decoding and signatures",
  "the journal and the network",
  "turning events into objects",
  "making the commands (done before the clock starts)",
]);

function bareBook(): void {
  const operations = new BookOperations(OPERATIONS, LEVELS, LEVELS / 2, SEED);
  // The package is some thirty times slower: the same count would take most of the bench.
  const few = new BookOperations(OPERATIONS / 10, LEVELS, LEVELS / 2, SEED);
  const perSecond = (stream: BookOperations, runs: number, make: () => BareBook): number =>
    1e9 / fastest(runs, () => stream.time(make()));
  const ours = perSecond(operations, turns, () => new LadderBook());
  report.add(`bare book, ${LEVELS} levels`, ours, "operations/s", "bar 3,000,000", ours / 3e6);
  const npm = perSecond(few, 2, () => new NodejsOrderBook());
  report.add("  nodejs-order-book", npm, "operations/s", "bare book is", ours / npm);
}

function growth(): void {
  const cost = (levels: number): number => {
    const operations = new BookOperations(OPERATIONS / 2, levels, 100, SEED);
    return fastest(turns, () => operations.time(new LadderBook()));
  };
  cost(100);
  const shallow = cost(100);
  for (const levels of [1_000, 5_000]) {
    const deep = cost(levels);
    const metric = `near the touch, ${levels} levels (100 × u⁴ ticks behind it)`;
    const against = `100 levels: ${shallow.toFixed(0)} ns`;
    report.add(metric, deep, "ns/operation", against, deep / shallow);
  }
}

function applyAll(engine: Engine, commands: readonly Command[]): number {
  const started = performance.now();
  for (let i = 0; i < commands.length; i++) engine.apply(commands[i]!);
  return performance.now() - started;
}

function wholePath(): void {
  const flow = new VenueFlow(ACCOUNTS, LEVELS, options.number("commands"), SEED);
  const ms = fastest(turns, () => applyAll(flow.prepare(), flow.timed));
  const perSecond = (flow.timed.length * 1000) / ms;
  const metric = `apply, ${ACCOUNTS} accounts, ${LEVELS} levels`;
  report.add(metric, perSecond, "commands/s", "bar 300,000", perSecond / 300_000);

  const engine = flow.prepare();
  const half = flow.timed.length / 2;
  applyAll(engine, flow.timed.slice(0, half));
  const rest = flow.timed.slice(half);
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  applyAll(engine, rest);
  const grown = process.memoryUsage().heapUsed - before;
  report.detail("  allocated", grown / rest.length, "bytes/command");
  const events = countWords(flow.prepare(), flow.timed.slice(0, 50_000));
  report.detail("  events", events / 50_000, "words/command");
}

function countWords(engine: Engine, commands: readonly Command[]): number {
  let words = 0;
  for (const command of commands) words += engine.apply(command).length;
  return words;
}

/** Half of the accounts long, half short, at leverages from 1 to 20. */
function manyPositions(): Engine {
  const engine = new Engine();
  for (const command of openingCommands(POSITIONS)) engine.apply(command);
  for (let account = 1; account <= POSITIONS; account += 2) {
    const leverage = 1 + (account % 20);
    const margin = 100_000_000;
    engine.apply(order(sessionOf(account), 1, SHORT, 650_000, margin, leverage));
    engine.apply(order(sessionOf(account + 1), 1, LONG, 650_000, margin, leverage));
  }
  return engine;
}

function marking(): void {
  const engine = manyPositions();
  const market = engine.state.markets[0]!;
  let found = 0;
  const scan = fastest(50, () => {
    const started = performance.now();
    found += accountsDue(market).length;
    return performance.now() - started;
  });
  report.add(`finding accounts to liquidate among ${POSITIONS}`, scan, "ms", "bar 2 ms", scan / 2);
  let slot = Math.floor(engine.state.lastTickMs / 200);
  const tick = fastest(50, () => {
    slot++;
    const indexTicks = 650_000 + (slot % 7);
    engine.apply({ kind: "UpdateIndex", stampMs: slot * 200, market: 0, indexTicks, slot });
    const started = performance.now();
    engine.apply({ kind: "Tick", slot });
    return performance.now() - started;
  });
  report.add(`  a whole tick with a new mark (${found} due)`, tick, "ms", "bar 2 ms", tick / 2);
}

/** The same commands through this release and the one before, turn by turn. */
async function againstBefore(folder: string): Promise<void> {
  const Before = await engineOf(folder);
  const flow = new VenueFlow(ACCOUNTS, LEVELS, options.number("commands"), SEED);
  const run = (engine: BareEngine): number => {
    for (const command of flow.opening()) engine.apply(command);
    const started = process.cpuUsage();
    for (const command of flow.timed) engine.apply(command);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000;
  };
  run(new Before());
  run(new Engine());
  const pairs = Array.from({ length: turns + 2 }, (_, turn) => {
    if (turn % 2 === 0) return [run(new Before()), run(new Engine())];
    const now = run(new Engine());
    return [run(new Before()), now];
  });
  const perSecond = (flow.timed.length * 1_000) / Math.min(...pairs.map(([, now]) => now!));
  const ratio = median(pairs.map(([before, now]) => before! / now!));
  report.add("apply, processor time", perSecond, "commands/s", "the release before", ratio);
}

/** Slices of the two flows in turn, so that a change of the machine's speed affects both. */
function manyAccounts(): void {
  const many = options.number("accounts");
  const count = options.number("commands") / 2;
  const flows = [ACCOUNTS, many].map((accounts) => new VenueFlow(accounts, LEVELS, count, SEED));
  const engines = flows.map((flow) => flow.prepare());
  globalThis.gc?.();
  const slice = 10_000;
  const costs: [few: number, many: number][] = [];
  for (let from = 0; from < count; from += slice) {
    const [few, all] = flows.map((flow, i) =>
      applyAll(engines[i]!, flow.timed.slice(from, from + slice)),
    );
    costs.push([few!, all!]);
  }
  // The first slices compile the code.
  const warm = costs.slice(Math.floor(costs.length / 4));
  const perSecond = (slice * 1_000) / median(warm.map(([, all]) => all));
  const ratio = median(warm.map(([few, all]) => all / few));
  report.add(`apply, ${many} accounts`, perSecond, "commands/s", `cost at ${ACCOUNTS}`, ratio);
}

/** Every phase in the life of a full venue, and the largest single command in it. */
async function largestCommands(): Promise<void> {
  const stopwatch = new Stopwatch();
  const size: CrowdSize = {
    accounts: options.number("accounts"),
    orders: options.number("orders"),
    stops: options.number("stops"),
  };
  const phases: readonly [name: string, run: (crowd: Crowd) => void][] = [
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
  const small = new Crowd(
    { accounts: 20_000, orders: 20_000, stops: 10_000 },
    (engine, command) => engine.apply(command),
    SEED,
  );
  for (const [, run] of phases) run(small);
  const crowd = new Crowd(size, (engine, command) => stopwatch.apply(engine, command), SEED);
  for (const [name, run] of phases) {
    progress(`engine:   ${name} …`);
    run(crowd);
    const { commands, ms, kind, above5Ms, longestCollectionMs, leftOut } =
      await stopwatch.largest();
    report.add(`largest command, ${name}: ${kind}`, ms, "ms", "bar 5 ms", ms / 5);
    report.detail("  commands", commands, `${above5Ms} above 5 ms`);
    report.detail("  longest garbage collection", longestCollectionMs, "ms");
    report.detail("  left out, the machine was slow", leftOut, "commands");
  }
  stopwatch.end();
}

const before = options.text("before");
const only = options.text("only")?.split(",");
const steps: readonly [part: string, name: string, work: () => void | Promise<void>][] = [
  ["book", "bare book", bareBook],
  ["touch", "cost near the touch", growth],
  ["apply", "whole apply path", wholePath],
  ["marking", `marking ${POSITIONS} positions`, marking],
  ["accounts", "apply path with many accounts", manyAccounts],
  ["largest", "largest single commands of a full venue, about a minute", largestCommands],
];
// First: the other steps make V8 compile this release's code for venues of many kinds.
if (before !== undefined) {
  await report.step("apply path against the release before", () => againstBefore(before));
}
for (const [part, name, work] of steps) {
  if (only === undefined || only.includes(part)) await report.step(name, work);
}
report.print(options.has("json"));
