/**
 * The engine's speed, beside peers on the same operations in the same run.
 *
 *   npm run bench:engine [-- --json]
 */
import { type Command, Engine, LONG, SHORT } from "@perpgate/engine";
import { accountsDue } from "@perpgate/engine/parts";
import { type BareBook, LadderBook, NodejsOrderBook, PlainBook } from "./engine/bare-books.js";
import { BookOperations } from "./engine/book-operations.js";
import { openingCommands, order, sessionOf, VenueFlow } from "./engine/venue-flow.js";
import { progress, Report } from "./report.js";

const SEED = 20_261_115;
const LEVELS = 3_000;
const ACCOUNTS = 10_000;
const POSITIONS = 100_000;

const report = new Report("engine", [
  "decoding and signatures",
  "the journal and the network",
  "turning events into objects",
  "time to make the commands (they exist before the clock starts)",
]);

function fastest(runs: number, measure: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, measure());
  return best;
}

function bareBook(): void {
  progress("bare book …");
  const operations = new BookOperations(1_000_000, LEVELS, LEVELS / 2, SEED);
  const few = new BookOperations(100_000, LEVELS, LEVELS / 2, SEED);
  const perSecond = (stream: BookOperations, runs: number, make: () => BareBook): number =>
    1e9 / fastest(runs, () => stream.time(make()));
  const ours = perSecond(operations, 4, () => new LadderBook());
  report.add(`bare book, ${LEVELS} levels`, ours, "operations/s", "bar 3,000,000", ours / 3e6);
  const npm = perSecond(few, 2, () => new NodejsOrderBook());
  report.add("  nodejs-order-book", npm, "operations/s", "bare book is", ours / npm);
  const plain = perSecond(operations, 2, () => new PlainBook());
  report.add("  sorted plain objects", plain, "operations/s", "bare book is", ours / plain);
}

function growth(): void {
  progress("cost near the touch …");
  const cost = (levels: number): number => {
    const operations = new BookOperations(500_000, levels, 100, SEED);
    return fastest(4, () => operations.time(new LadderBook()));
  };
  cost(100);
  const shallow = cost(100);
  for (const levels of [1_000, 5_000]) {
    const deep = cost(levels);
    const metric = `near the touch, ${levels} levels (100 × u⁴ ticks behind it)`;
    report.add(
      metric,
      deep,
      "ns/operation",
      `100 levels: ${shallow.toFixed(0)} ns`,
      deep / shallow,
    );
  }
}

function applyAll(engine: Engine, commands: readonly Command[]): number {
  const started = performance.now();
  for (let i = 0; i < commands.length; i++) engine.apply(commands[i]!);
  return performance.now() - started;
}

function wholePath(): void {
  progress("whole apply path …");
  const flow = new VenueFlow(ACCOUNTS, LEVELS, 400_000, SEED);
  const ms = fastest(4, () => applyAll(flow.prepare(), flow.timed));
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
  report.add("  allocated", grown / rest.length, "bytes/command");
  const events = countWords(flow.prepare(), flow.timed.slice(0, 50_000));
  report.add("  events", events / 50_000, "words/command");
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
  progress(`marking ${POSITIONS} positions …`);
  const engine = manyPositions();
  const market = engine.state.markets[0]!;
  let found = 0;
  const scan = fastest(50, () => {
    const started = performance.now();
    found += accountsDue(market).length;
    return performance.now() - started;
  });
  report.add(`finding those to liquidate of ${POSITIONS}`, scan, "ms", "bar 2 ms", scan / 2);
  let slot = Math.floor(engine.state.lastTickMs / 200);
  const tick = fastest(50, () => {
    slot++;
    const indexTicks = 650_000 + (slot % 7);
    engine.apply({ kind: "UpdateIndex", stampMs: slot * 200, market: 0, indexTicks });
    const started = performance.now();
    engine.apply({ kind: "Tick", slot });
    return performance.now() - started;
  });
  report.add(`  a whole tick with a new mark (${found} due)`, tick, "ms", "bar 2 ms", tick / 2);
}

bareBook();
growth();
wholePath();
marking();
report.print(process.argv.includes("--json"));
