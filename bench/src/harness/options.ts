/**
 * Command-line options of every command in this package. `--help` prints the usage; a wrong option
 * prints the reason and ends the process with code 2.
 */
import { type ParseArgsConfig, parseArgs } from "node:util";

export interface Usage<N extends string, T extends string> {
  readonly command: string;
  readonly about: string;
  /** Whole numbers above 0: what it is, its default, and its default with `--short`. */
  readonly numbers?: Readonly<Record<N, readonly [about: string, full: number, short?: number]>>;
  readonly texts?: Readonly<Record<T, string>>;
  readonly switches?: Readonly<Record<string, string>>;
}

export interface Options<N extends string, T extends string> {
  number(name: N): number;
  text(name: T): string | undefined;
  has(name: string): boolean;
}

export function parseOptions<N extends string = never, T extends string = never>(
  usage: Usage<N, T>,
): Options<N, T> {
  const numbers = new Map(Object.entries<readonly [string, number, number?]>(usage.numbers ?? {}));
  const texts = Object.entries<string>(usage.texts ?? {});
  const hasShort = [...numbers.values()].some(([, , short]) => short !== undefined);
  const switches: Record<string, string> = {
    ...usage.switches,
    ...(hasShort ? { short: "fewer and smaller turns" } : {}),
    json: "print one JSON object instead of the table",
    help: "print this text",
  };
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const name of [...numbers.keys(), ...texts.map(([name]) => name)]) {
    options[name] = { type: "string" };
  }
  for (const name of Object.keys(switches)) options[name] = { type: "boolean" };
  options.help = { type: "boolean", short: "h" };
  const values = valuesOf(options);
  if (values.help === true) {
    const lines = [
      ...[...numbers].map(([name, [about, full, short]]) => {
        return [`${name} N`, `${about} (${full}${short === undefined ? "" : `, short ${short}`})`];
      }),
      ...texts.map(([name, about]) => [`${name} X`, about]),
      ...Object.entries(switches),
    ].map(([flag = "", about]) => `  --${flag.padEnd(20)}${about}`);
    const head = `Usage: npm run ${usage.command} -- [options]`;
    process.stdout.write(`${head}\n\n${usage.about}\n\n${lines.join("\n")}\n`);
    process.exit(0);
  }
  for (const name of numbers.keys()) {
    const text = values[name];
    if (text !== undefined && !/^[1-9][0-9]{0,8}$/.test(String(text))) {
      exitWithUsageError(`--${name}: "${String(text)}" is not a whole number above 0`);
    }
  }
  return {
    number: (name) => {
      const [, full = 0, short = full] = numbers.get(name) ?? [];
      return Number(values[name] ?? (values.short === true ? short : full));
    },
    text: (name) => (values[name] === undefined ? undefined : String(values[name])),
    has: (name) => values[name] === true,
  };
}

export function exitWithUsageError(problem: string): never {
  process.stderr.write(`${problem}; try --help\n`);
  process.exit(2);
}

function valuesOf(options: NonNullable<ParseArgsConfig["options"]>) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return exitWithUsageError(error instanceof Error ? error.message : String(error));
  }
}
