/**
 * The options that every bench takes: `--json`, `--short`, `--help`, its amounts, each with a full
 * and a short default, and its switches. A wrong option ends the bench with what is wrong and code 2.
 *
 * `--short` makes fewer or smaller turns of the same measurements: for `npm run bench`, which runs
 * every part in about two minutes.
 */
import { type ParseArgsConfig, parseArgs } from "node:util";

export interface Amount {
  readonly about: string;
  readonly full: number;
  readonly short: number;
}

export interface BenchOptions<A extends string> {
  readonly json: boolean;
  readonly isShort: boolean;
  readonly amounts: Readonly<Record<A, number>>;
  /** The switches that are on. */
  readonly switches: ReadonlySet<string>;
}

interface BenchUsage<A extends string> {
  readonly command: string;
  readonly about: string;
  readonly amounts: Readonly<Record<A, Amount>>;
  readonly switches?: Readonly<Record<string, string>>;
}

export function benchOptions<A extends string>(usage: BenchUsage<A>): BenchOptions<A> {
  const flags = flagsOf(usage);
  if (flags.help === true) {
    process.stdout.write(helpText(usage));
    process.exit(0);
  }
  const isShort = flags.short === true;
  const amounts = mapValues(usage.amounts, ({ full, short }, name) => {
    return amountOf(name, flags[name]) ?? (isShort ? short : full);
  });
  const switches = Object.keys(usage.switches ?? {}).filter((name) => flags[name] === true);
  return { json: flags.json === true, isShort, amounts, switches: new Set(switches) };
}

function flagsOf(usage: BenchUsage<string>) {
  const options: NonNullable<ParseArgsConfig["options"]> = {
    json: { type: "boolean" },
    short: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  };
  for (const name of Object.keys(usage.amounts)) options[name] = { type: "string" };
  for (const name of Object.keys(usage.switches ?? {})) options[name] = { type: "boolean" };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function amountOf(name: string, text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && /^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  return refuse(`--${name}: "${String(text)}" is not a whole number above 0`);
}

export function refuse(problem: string): never {
  process.stderr.write(`${problem}; try --help\n`);
  process.exit(2);
}

function helpText(usage: BenchUsage<string>): string {
  const amounts = Object.entries(usage.amounts).map(([name, { about, full, short }]) => [
    `--${name} N`,
    `${about} (${full}, short ${short})`,
  ]);
  const switches = Object.entries(usage.switches ?? {}).map(([name, about]) => [
    `--${name}`,
    about,
  ]);
  const lines = [
    ...amounts,
    ...switches,
    ["--short", "fewer and smaller turns"],
    ["--json", "one JSON object instead of the table"],
    ["--help, -h", "this text"],
  ].map(([flag = "", about = ""]) => `  ${flag.padEnd(20)}${about}`);
  return `Usage: npm run ${usage.command} -- [options]\n\n${usage.about}\n\n${lines.join("\n")}\n`;
}

function mapValues<K extends string, V, W>(
  record: Readonly<Record<K, V>>,
  mapped: (value: V, key: K) => W,
): Record<K, W> {
  // A record's own keys are its keys; the library's types do not say so.
  const keys = Object.keys(record) as K[];
  return Object.fromEntries(keys.map((key) => [key, mapped(record[key], key)])) as Record<K, W>;
}
