/**
 * The command line: arguments in, one command out.
 *
 * Every option of `serve` is also an environment variable: `--log-level` is `PERPGATE_LOG_LEVEL`.
 * Both hold text, so both are read by the table below; a value that is not of its kind is refused
 * under the name the operator used.
 */

import { type ParseArgsConfig, parseArgs } from "node:util";
import { StartError, UsageError } from "../cli/start-error.js";
import { COMMANDS, commandListLines } from "../program.js";

interface OptionRule {
  /** The key in the settings; `config` is not one, it says where a file of them is. */
  readonly setting: "host" | "port" | "data" | "bots" | "logLevel" | "config";
  readonly kind: "text" | "integer" | "switch-off";
  readonly value: string;
  readonly help: string;
}

export const OPTIONS: Readonly<Record<string, OptionRule>> = {
  port: { setting: "port", kind: "integer", value: "N", help: "port to listen on (8080)" },
  host: { setting: "host", kind: "text", value: "H", help: "address to listen on (127.0.0.1)" },
  data: { setting: "data", kind: "text", value: "DIR", help: "data folder (.data), created" },
  config: { setting: "config", kind: "text", value: "FILE", help: "JSON configuration file" },
  "no-bots": { setting: "bots", kind: "switch-off", value: "", help: "start without bots" },
  "log-level": {
    setting: "logLevel",
    kind: "text",
    value: "L",
    help: "trace, debug, info (default), warn, error, fatal or silent",
  },
};

/** What an operator accepts for one start: never a variable or a setting, which would stay. */
export interface Accepted {
  readonly loss: boolean;
  readonly clock: boolean;
}

const ACCEPT_FLAGS: Readonly<Record<`accept-${keyof Accepted}`, string>> = {
  "accept-loss": "go on with a log that has lost its end; what shows the loss is kept",
  "accept-clock": "believe the clock at this start, however far ahead it is",
};

/** Variables that share the prefix and are not settings. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  "PERPGATE_VECTORS",
  "PERPGATE_ATTESTOR_KEY",
  "PERPGATE_URL",
  "PERPGATE_PROFILE",
  "PERPGATE_WALLET_KEY",
]);

/** Settings as one source gave them, not yet checked against the schema. */
export type RawSettings = Readonly<Record<string, unknown>>;

export type Command =
  | { readonly name: "help" }
  | { readonly name: "version" }
  | { readonly name: "serve"; readonly flags: RawSettings; readonly accepted: Accepted };

export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parseFlags(args);
  if (values.help === true) return { name: "help" };
  if (values.version === true) return { name: "version" };
  const [command = "serve", ...rest] = positionals;
  if (command === "help") return { name: "help" };
  if (COMMANDS.has(command)) throw new UsageError(hintFor(args));
  if (command !== "serve") throw new UsageError(`unknown command "${command}"; try --help`);
  if (rest.length > 0) throw new UsageError(`unexpected argument "${rest[0]}"; try --help`);
  const flags: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(OPTIONS)) {
    const value = values[name];
    if (value !== undefined) flags[rule.setting] = readValue(rule, String(value), `--${name}`);
  }
  const accepted = {
    loss: values["accept-loss"] === true,
    clock: values["accept-clock"] === true,
  };
  return { name: "serve", flags, accepted };
}

const FLAGS: NonNullable<ParseArgsConfig["options"]> = {
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
};
for (const name of Object.keys(ACCEPT_FLAGS)) FLAGS[name] = { type: "boolean" };
for (const [name, { kind }] of Object.entries(OPTIONS)) {
  FLAGS[name] = { type: kind === "switch-off" ? "boolean" : "string" };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: FLAGS });
  } catch (error) {
    const problem = error instanceof Error ? error.message.split(". ", 1)[0] : String(error);
    throw new UsageError(`${problem}; ${hintFor(args)}`);
  }
}

/** Flags before a command's name are read as those of `serve`, which is rarely what was meant. */
function hintFor(args: readonly string[]): string {
  const command = args.find((word) => COMMANDS.has(word));
  if (command === undefined) return "try --help";
  return `flags come after the command: perpgate ${command} …`;
}

export function readEnvironment(environment: NodeJS.ProcessEnv): RawSettings {
  const rules = new Map(
    Object.entries(OPTIONS).map(([name, rule]) => [variableOf(name), rule] as const),
  );
  const settings: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith("PERPGATE_") || OTHER_VARIABLES.has(name)) continue;
    const rule = rules.get(name);
    if (rule === undefined) {
      throw new StartError(`unknown variable ${name}; known are ${[...rules.keys()].join(", ")}`);
    }
    settings[rule.setting] = readValue(rule, text ?? "", name);
  }
  return settings;
}

function variableOf(option: string): string {
  return `PERPGATE_${option.toUpperCase().replaceAll("-", "_")}`;
}

function readValue(rule: OptionRule, text: string, origin: string): unknown {
  switch (rule.kind) {
    case "text":
      return text;
    case "integer":
      if (/^[0-9]{1,15}$/.test(text)) return Number(text);
      throw new StartError(`${origin}: "${text}" is not a whole number`);
    case "switch-off":
      if (text === "true" || text === "1") return false;
      if (text === "false" || text === "0") return true;
      throw new StartError(`${origin}: "${text}" must be true or false`);
  }
}

export function helpText(): string {
  const lines = Object.entries(OPTIONS).map(([name, { value, help }]) =>
    `  --${name} ${value}`.padEnd(22).concat(`${help}  [${variableOf(name)}]`),
  );
  return [
    "Usage: perpgate <command> [options]",
    "       perpgate <command> --help",
    "",
    "A perpetual-futures testnet: its gateway, and a trader's tools.",
    "",
    ...commandListLines(),
    "",
    "Options of serve, each also an environment variable:",
    ...lines,
    "",
    "For one start of serve, flags only:",
    ...Object.entries(ACCEPT_FLAGS).map(([name, help]) => `  --${name}`.padEnd(22).concat(help)),
    "",
    "  --help, -h".padEnd(22).concat("this text"),
    "  --version, -v".padEnd(22).concat("the version"),
    "",
    "A flag wins over the environment, the environment over the file, the file over the default.",
    "",
    "Exit codes: 0 done, 1 refused or failed, 2 written wrongly.",
    "",
  ].join("\n");
}
