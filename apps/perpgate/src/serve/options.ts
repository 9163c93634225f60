/**
 * The options of `serve`. Each is also an environment variable, `--log-level` PERPGATE_LOG_LEVEL, and
 * a value of the wrong kind is rejected under the name the operator used.
 */

import { type Command, Option } from "commander";
import { StartError } from "../cli/start-error.js";

interface ServeOption {
  readonly flags: string;
  readonly help: string;
  /** The path of the setting; `config` is none: it names a file of settings. */
  readonly setting: string;
  readonly read: (text: string, origin: string) => unknown;
}

const text = (value: string) => value;

const wholeNumber = (value: string, origin: string) => {
  if (/^[0-9]{1,15}$/.test(value)) return Number(value);
  throw new StartError(`${origin}: "${value}" is not a whole number`);
};

const OPTIONS: Readonly<Record<string, ServeOption>> = {
  PERPGATE_PORT: {
    flags: "--port <N>",
    help: "port to listen on (8080)",
    setting: "port",
    read: wholeNumber,
  },
  PERPGATE_HOST: {
    flags: "--host <H>",
    help: "address to listen on (127.0.0.1)",
    setting: "host",
    read: text,
  },
  PERPGATE_DATA: {
    flags: "--data <DIR>",
    help: "data folder (.data), created",
    setting: "data",
    read: text,
  },
  PERPGATE_EDGES: {
    flags: "--edges <N>",
    help: "processes that serve clients (processors - 1)",
    setting: "edges",
    read: wholeNumber,
  },
  PERPGATE_LOG: {
    flags: "--log <SERVERS>",
    help: "replicated log: nats://HOST:4222, several with commas",
    setting: "log.servers",
    read: (value) => value.split(",").map((server) => server.trim()),
  },
  PERPGATE_NAME: {
    flags: "--name <NAME>",
    help: "the gateway's name in a replicated log (the machine's)",
    setting: "name",
    read: text,
  },
  PERPGATE_REGION: {
    flags: "--region <NAME>",
    help: "where this gateway is, for clients to read",
    setting: "region",
    read: text,
  },
  PERPGATE_CONFIG: {
    flags: "--config <FILE>",
    help: "JSON configuration file",
    setting: "config",
    read: text,
  },
  PERPGATE_SEGMENT_MIB: {
    flags: "--segment-mib <N>",
    help: "size of each new file of the log in MiB (64)",
    setting: "segmentMiB",
    read: wholeNumber,
  },
  PERPGATE_METRICS_HOST: {
    flags: "--metrics-host <H>",
    help: "address that serves metrics (127.0.0.1)",
    setting: "metrics.host",
    read: text,
  },
  PERPGATE_NO_BOTS: {
    flags: "--no-bots",
    help: "start without bots",
    setting: "bots",
    read: (value, origin) => {
      if (value === "true" || value === "1") return false;
      if (value === "false" || value === "0") return true;
      throw new StartError(`${origin}: "${value}" must be true or false`);
    },
  },
  PERPGATE_LOG_LEVEL: {
    flags: "--log-level <L>",
    help: "trace, debug, info (default), warn, error, fatal or silent",
    setting: "logLevel",
    read: text,
  },
};

/** Variables with the same prefix that are not settings. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  "PERPGATE_VECTORS",
  "PERPGATE_NATS_SERVER",
  "PERPGATE_LITEWITNESS",
  "PERPGATE_ATTESTOR_KEY",
  "PERPGATE_URL",
  "PERPGATE_PROFILE",
  "PERPGATE_WALLET_KEY",
]);

/** Settings of one source, not yet checked against the schema. */
export type RawSettings = Readonly<Record<string, unknown>>;

/** What an operator accepts for one start. Flags only: a variable or setting would stay. */
export interface Accepted {
  readonly loss: boolean;
  readonly clock: boolean;
}

export interface ServeOptions extends RawSettings {
  readonly bots: boolean;
  readonly acceptLoss?: boolean;
  readonly acceptClock?: boolean;
}

/** Every option that is a setting. */
export function addSettingOptions(command: Command): Command {
  for (const [variable, { flags, help, read }] of Object.entries(OPTIONS)) {
    const [name = "", value] = flags.split(" ");
    const description = `${help}  [${variable}]`;
    if (value === undefined) command.option(flags, description);
    else command.option(flags, description, (given: string) => read(given, name));
  }
  return command;
}

export function addServeOptions(command: Command): Command {
  return addSettingOptions(command)
    .option("--accept-loss", "start although the log has lost its end; the evidence is kept")
    .option("--accept-clock", "trust the clock at this start, however far ahead it is");
}

/** The settings among the flags of a call. */
export function flagSettings(options: ServeOptions): RawSettings {
  const given = Object.values(OPTIONS).map(({ flags, setting }): [string, unknown] => [
    setting,
    options[new Option(flags).attributeName()],
  ]);
  // Commander sets `bots` to true unless --no-bots is given.
  const isGiven = ([setting, value]: [string, unknown]) =>
    value !== undefined && !(setting === "bots" && value === true);
  return settingsAt(given.filter(isGiven));
}

export function readEnvironment(environment: NodeJS.ProcessEnv): RawSettings {
  const given: [string, unknown][] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith("PERPGATE_") || OTHER_VARIABLES.has(name)) continue;
    const option = OPTIONS[name];
    if (option === undefined) {
      throw new StartError(
        `unknown variable ${name}; known are ${Object.keys(OPTIONS).join(", ")}`,
      );
    }
    given.push([option.setting, option.read(value ?? "", name)]);
  }
  return settingsAt(given);
}

/** Values by the path of their setting, as the file has them; a path has at most one section. */
function settingsAt(given: readonly (readonly [path: string, value: unknown])[]): RawSettings {
  const settings: Record<string, unknown> = {};
  for (const [path, value] of given) {
    const [name = "", key] = path.split(".");
    const section = settings[name];
    settings[name] = key === undefined ? value : { ...(section ?? {}), [key]: value };
  }
  return settings;
}
