/**
 * What a command is: its usage, its options, its examples, and what it does.
 *
 * In: the words after the command's name. Out: help on standard output, or a run with its exit code:
 * 0 done, 1 refused or failed, 2 written wrongly.
 */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { StartError, UsageError } from "./start-error.js";

export interface OptionRule {
  /** `flag` takes no value; `list` may be given several times. */
  readonly kind: "text" | "flag" | "list";
  /** What the help shows for the value. */
  readonly value?: string;
  readonly help: string;
}

export type OptionRules = Readonly<Record<string, OptionRule>>;

export interface Command {
  /** Each way to call it, without the leading `perpgate`. */
  readonly usage: readonly string[];
  readonly about: string;
  readonly options: OptionRules;
  /** A call, without the leading `perpgate`, and what it does. */
  readonly examples: readonly (readonly [call: string, meaning: string])[];
  /** Answers the exit code. */
  run(args: Arguments): Promise<number>;
}

export const HELP: OptionRules = { help: { kind: "flag", help: "this text" } };

/** The words of one call, taken apart by the rules of its command. */
export class Arguments {
  constructor(
    readonly positionals: readonly string[],
    private readonly values: Readonly<Record<string, unknown>>,
    /** Says what is wrong, and how the command is called. */
    readonly fail: (problem: string) => UsageError,
  ) {}

  has(name: string): boolean {
    return this.values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === "string" ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** The one positional of this name; more than `count` in all are refused. */
  positional(at: number, name: string, count: number): string {
    const value = this.positionals[at];
    if (value === undefined) throw this.fail(`<${name}> is missing`);
    this.atMost(count);
    return value;
  }

  atMost(count: number): void {
    const extra = this.positionals[count];
    if (extra !== undefined) throw this.fail(`unexpected argument "${extra}"`);
  }
}

export function parseArguments(command: Command, words: readonly string[]): Arguments {
  const [usage = ""] = command.usage;
  const fail = (problem: string) =>
    new UsageError(`${problem}; usage: perpgate ${usage} (or --help)`);
  const options: NonNullable<ParseArgsConfig["options"]> = {
    help: { type: "boolean", short: "h" },
  };
  for (const [name, { kind }] of Object.entries(command.options)) {
    options[name] = {
      type: kind === "flag" ? "boolean" : "string",
      multiple: kind === "list",
    };
  }
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options,
    });
    return new Arguments(positionals, values, fail);
  } catch (error) {
    throw fail(error instanceof Error ? (error.message.split(". ", 1)[0] ?? "") : String(error));
  }
}

/** Answers the exit code. */
export async function runCommand(command: Command, words: readonly string[]): Promise<number> {
  try {
    const args = parseArguments(command, words);
    if (!args.has("help")) return await command.run(args);
    process.stdout.write(commandHelp(command));
    return 0;
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(words.includes("--json") ? error.json : error.text);
    return error.exitCode;
  }
}

export function commandHelp({ usage, about, options, examples }: Command): string {
  const lines = usage.map((line, at) => `${at === 0 ? "Usage:" : "      "} perpgate ${line}`);
  lines.push("", about, "", "Options:", ...optionLines({ ...options, ...HELP }));
  if (examples.length > 0) {
    const width = Math.max(...examples.map(([call]) => call.length));
    lines.push("", "Examples:");
    for (const [call, meaning] of examples) {
      lines.push(`  perpgate ${call.padEnd(width)}  # ${meaning}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

function optionLines(options: OptionRules): string[] {
  const heads = Object.entries(options).map(
    ([name, { value }]) => `--${name}${value === undefined ? "" : ` ${value}`}`,
  );
  const width = Math.max(...heads.map(({ length }) => length));
  return Object.values(options).map(
    ({ help }, at) => `  ${(heads[at] ?? "").padEnd(width)}  ${help}`,
  );
}
