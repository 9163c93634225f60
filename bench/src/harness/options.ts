/**
 * Command-line options of every command in this package. `--help` prints the usage; a wrong option
 * prints the reason and ends the process with code 2.
 */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { errorText } from "./report.js";

interface Usage<N extends string, T extends string> {
  readonly command: string;
  readonly about: string;
  /** Whole numbers above 0: what it is, its default, and its default with `--short`. */
  readonly numbers?: Readonly<Record<N, readonly [about: string, full: number, short?: number]>>;
  readonly texts?: Readonly<Record<T, string>>;
  readonly switches?: Readonly<Record<string, string>>;
}

export function parseOptions<N extends string = never, T extends string = never>(
  usage: Usage<N, T>,
) {
  const numbers = new Map(Object.entries<readonly [string, number, number?]>(usage.numbers ?? {}));
  const hasShort = [...numbers.values()].some(([, , short]) => short !== undefined);
  const switches = Object.entries<string>({
    ...usage.switches,
    ...(hasShort ? { short: "fewer and smaller turns" } : {}),
    json: "print one JSON object instead of the table",
    help: "print this text",
  });
  const texts = Object.entries<string>(usage.texts ?? {});
  for (const [name, [about, full, short = full]] of numbers) {
    texts.push([name, `${about} (${full}${short === full ? "" : `, short ${short}`})`]);
  }
  const config: Parameters<typeof valuesOf>[0] = {};
  for (const [name] of texts) config[name] = { type: "string" };
  for (const [name] of switches) config[name] = { type: "boolean" };
  const values = valuesOf(config);
  if (values.help === true) {
    const flags = [...texts.map(([name, about]) => [`${name} X`, about] as const), ...switches];
    const lines = flags.map(([flag, about]) => `  --${flag.padEnd(20)}${about}`).join("\n");
    console.log(`Usage: ${usage.command} [options]\n\n${usage.about}\n\n${lines}`);
    process.exit(0);
  }
  for (const name of numbers.keys()) {
    if (/^[1-9][0-9]{0,8}$/.test(String(values[name] ?? 1))) continue;
    exitWithUsageError(`--${name}: "${String(values[name])}" is not a whole number above 0`);
  }
  // On a signal the exit handlers end all processes and remove the folders.
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => process.exit(130));
  return {
    number: (name: N): number => {
      const [, full = 0, short = full] = numbers.get(name) ?? [];
      return Number(values[name] ?? (values.short === true ? short : full));
    },
    text: (name: T): string | undefined => values[name]?.toString(),
    /** What a list with commas names, or all. */
    list: (name: T, known: readonly string[]): readonly string[] => {
      const given = values[name]?.toString().split(",");
      const names = given?.map((one) => one.trim()) ?? known;
      const unknown = names.find((one) => !known.includes(one));
      if (unknown !== undefined) exitWithUsageError(`--${name}: there is no "${unknown}"`);
      return names;
    },
    has: (name: string): boolean => values[name] === true,
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
    return exitWithUsageError(errorText(error));
  }
}
