/**
 * The five workloads of the public matching-engine harness (flash1-dev/matching-engine-benchmark) through
 * the whole apply path, turn by turn with one of the harness's own reference engines. Every output must
 * equal the reference engine's, and the published hash where there is one.
 *
 * The folder is a checkout of the harness, built as its README says. This process runs the harness's
 * programs there, and nothing of it is part of this repository. Making the commands is not in the timed part,
 * as the harness allows; reading the events and writing the reports is.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { exitWithUsageError, parseOptions } from "./harness/options.js";
import { inTurns, Latencies, Report } from "./harness/report.js";
import { MatchingVenue } from "./matching/venue.js";
import { readWorkload, type Workload } from "./matching/workload.js";

const SCENARIOS = ["static", "normal", "swing-25", "swing-40", "flash-crash"];

const options = parseOptions({
  command: "npm run bench -- matching",
  about:
    "The workloads of flash1-dev/matching-engine-benchmark through the whole apply path, next to a\n" +
    "reference engine of the harness, whose output must be equal.",
  numbers: {
    count: ["new orders of a workload", 1_000_000, 100_000],
    seed: ["seed of the workloads; hashes are published for 23 and 1,000,000 orders", 23],
    accounts: ["accounts that the orders are spread over, an even number", 1_000],
    turns: ["turns of each engine, after one that warms up", 3, 1],
  },
  texts: {
    harness: "folder of the harness, built as its README says (required)",
    reference: "the harness's reference engine that is compared (quantcup)",
    only: `some workloads, with commas between: ${SCENARIOS.join(", ")}`,
  },
});
const folder =
  options.text("harness") ?? exitWithUsageError("--harness: the folder of the harness is missing");
const reference = options.text("reference") ?? "quantcup";
const seed = options.number("seed");
const count = options.number("count");
const accounts = options.number("accounts");
if (accounts % 2 !== 0) exitWithUsageError("--accounts: not an even number");
const report = new Report("matching");

interface Turn {
  readonly perSecond: number;
  readonly hash: string;
}

/** A process of its own, on cores that exist here; it also makes the workload the first time. */
function runReference(scenario: string): Turn {
  const drainer = Math.min(1, availableParallelism() - 1);
  const cores = ["--matcher-core", "0", "--drainer-core", String(drainer)];
  const workload = ["--scenario", scenario, "--seed", String(seed), "--count", String(count)];
  const args = ["--baseline", reference, ...workload, ...cores, "--mode", "perf"];
  const output = outputOf(args);
  const wallSeconds = Number(/Wall time:\s+([\d.]+) s/.exec(output)?.[1]);
  const messages = Number(/Messages processed:\s+(\d+)/.exec(output)?.[1]);
  const hash = /Computed hash:\s+([0-9a-f]{64})/.exec(output)?.[1];
  if (hash === undefined || !(wallSeconds > 0)) throw new Error(`the harness says: ${output}`);
  return { perSecond: messages / wallSeconds, hash };
}

/** The harness ends with code 1 where it finds the machine unfit for figures; its output counts. */
function outputOf(args: readonly string[]): string {
  try {
    return execFileSync("./harness", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    if (error instanceof Error && "stdout" in error && error.stdout) return String(error.stdout);
    throw error;
  }
}

function runEngine(workload: Workload): Turn {
  const venue = new MatchingVenue(workload, accounts);
  globalThis.gc?.();
  const started = performance.now();
  for (let i = 0; i < workload.length; i++) venue.deliver(i);
  const ms = performance.now() - started;
  return { perSecond: (workload.length * 1_000) / ms, hash: venue.reports.hash() };
}

/** Reading the clock takes part of a microsecond, so this run is not the one of the throughput. */
function latencies(workload: Workload): Latencies {
  const venue = new MatchingVenue(workload, accounts);
  globalThis.gc?.();
  const found = new Latencies();
  for (let i = 0; i < workload.length; i++) {
    const started = performance.now();
    venue.deliver(i);
    found.record(performance.now() - started);
  }
  return found;
}

function publishedHash(scenario: string): string | undefined {
  const path = join(folder, "reference", "correctness_hash.txt");
  if (!existsSync(path)) return undefined;
  const name = `${scenario}_seed${seed}_count${count}_reports.txt`;
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.find((line) => line.endsWith(` ${name}`))?.split(" ")[0];
}

async function runScenario(scenario: string): Promise<void> {
  const first = runReference(scenario);
  const file = join(folder, `orders_${scenario}_s${seed}_n${count}.bin`);
  const workload = readWorkload(readFileSync(file));
  const sides = [() => runReference(scenario), () => runEngine(workload)];
  const [theirs, ours] = await inTurns(
    `matching: ${scenario}`,
    options.number("turns"),
    sides,
    (run) => run(),
  );
  const published = publishedHash(scenario);
  for (const { hash } of [...theirs!, ...ours!]) {
    if (hash !== (published ?? first.hash))
      throw new Error(`output ${hash} is not the reference's`);
  }
  // The harness spins on two cores: what else runs on the machine slows it more than the engine, so the
  // best turns are compared, not neighbouring ones.
  const best = (turns: readonly Turn[]): number => Math.max(...turns.map((turn) => turn.perSecond));
  const equal = published === undefined ? "equal output" : "equal to the published hash";
  report.add(`${scenario}, ${reference}`, best(theirs!), "messages/s", equal);
  const ratio = best(ours!) / best(theirs!);
  report.add(`${scenario}, apply`, best(ours!), "messages/s", `${reference}; ${equal}`, ratio);
  const { p50, p99, max } = latencies(workload).summary();
  report.add(`${scenario}, apply of a message, p50`, p50 * 1_000, "µs");
  report.add(`${scenario}, apply of a message, p99`, p99 * 1_000, "µs", `max ${max.toFixed(1)} ms`);
}

for (const scenario of options.list("only", SCENARIOS)) {
  await report.step(scenario, () => runScenario(scenario));
}
report.print(options.has("json"));
