/**
 * Settings: their defaults, and how the sources are merged.
 *
 * A flag wins over the environment, the environment over the file, the file over the default. Each
 * source is checked separately, so that an error names the source and the key. Unknown keys are
 * errors: a misspelt setting must not silently become its default.
 */

import { type BotSettings, DEFAULT_BOTS } from "@perpgate/bots/settings";
import type { BridgeSettings } from "@perpgate/bridge/settings";
import type { AllowedOrigins, LimitSettings, TrustedProxies } from "@perpgate/gateway";
import {
  DEFAULT_BOUND_SESSION_MS,
  DEFAULT_HTTP_LIMITS,
  DEFAULT_LIMITS,
  DEFAULT_SOCKET_LIMITS,
  type HttpLimits,
  httpLimitsProblem,
  type SocketLimits,
  socketLimitsProblem,
  unknownProxy,
} from "@perpgate/gateway/limits";
import { DEFAULT_SEGMENT_BYTES } from "@perpgate/journal";
import { DEFAULT_HTTP_SOURCE, type HttpSourceSettings } from "@perpgate/oracle";
import { catalogProblem, DEFAULT_MARKETS, type MarketDefinition } from "@perpgate/protocol";
import { type CheckpointOptions, DEFAULT_CHECKPOINTS, type VenueParameters } from "@perpgate/venue";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { StartError } from "../cli/start-error.js";
import { missingOfMarket, readMarkets } from "./market-changes.js";
import { type LOG_LEVELS, type PartialSettings, SettingsSchema } from "./settings-schema.js";

export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly data: string;
  /** Undefined: by the number of processors. */
  readonly edges?: number;
  /** Undefined: the machine's. */
  readonly name?: string;
  /** Undefined: the log is in the data folder alone. */
  readonly log?: NonNullable<PartialSettings["log"]>;
  /** Of this gateway, as it is named in its status. */
  readonly region?: string;
  /** To edges, or of edges to cores, on other machines. */
  readonly link: NonNullable<PartialSettings["link"]>;
  /** Size of each new segment of the log. */
  readonly segmentMiB: number;
  readonly bots: BotSettings & { readonly areWanted: boolean };
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly markets: MarketDefinition[];
  readonly server: {
    readonly trustProxy: TrustedProxies;
    readonly origins: AllowedOrigins;
    readonly udf: boolean;
    /** Undefined: the page in the default folder, if it was built. */
    readonly page?: string | false;
    /** Of daily files of public data; undefined: none are served. */
    readonly data?: string;
    /** Addresses of the venue's gateways, for the page. */
    readonly gateways?: readonly string[];
  };
  readonly http: HttpLimits & { readonly drainGraceMs: number };
  readonly metrics: {
    readonly host: string;
    /** Undefined: the usual port, or a free one if that is in use. False: none. */
    readonly port?: number | false;
  };
  readonly limits: LimitSettings;
  readonly sockets: SocketLimits;
  readonly auth: {
    readonly nonceKey?: string;
    readonly domains?: readonly string[];
    readonly chainIds?: readonly number[];
    readonly nonce: "any" | "issued";
    readonly requireKeyBinding: boolean;
    readonly maxBoundSessionMs: number;
    readonly rpc: Readonly<Record<string, string>>;
  };
  readonly cohort: {
    readonly stage: "closed" | "allowlist" | "open";
    readonly allow: readonly string[];
  };
  readonly risk: Partial<VenueParameters>;
  readonly snapshots: CheckpointOptions;
  readonly history: { readonly hotDays: number; readonly maxMiB?: number };
  readonly archive?: { readonly postgres?: string };
  readonly receipts: {
    readonly issue: boolean;
    /** Undefined: `log.key` in the data folder, which a new venue makes. */
    readonly logKey?: string;
    readonly witnesses: readonly { readonly url: string; readonly key: string }[];
    readonly checkpointMs: number;
    /** `strict`: a checkpoint is published only with the cosignatures of `require` witnesses. */
    readonly policy: "lenient" | "strict";
    /** Default: all witnesses. */
    readonly require?: number;
  };
  /** `resolveBridge` checks the rest. */
  readonly bridge: BridgeSettings;
  readonly index: HttpSourceSettings & {
    readonly source: "simulated" | "http";
    readonly seed: number;
    /** Of each simulated market. */
    readonly gustsPerHour: number;
    /** How often feeds are polled; `intervalMs` is how often prices go to the venue. */
    readonly pollMs: number;
  };
}

/** Of metrics, unless the settings name another: that of Prometheus exporters. */
export const USUAL_METRICS_PORT = 9464;

export const MIB = 1024 * 1024;

export const DEFAULT_SETTINGS: Settings = {
  host: "127.0.0.1",
  port: 8080,
  data: ".data",
  link: {},
  segmentMiB: DEFAULT_SEGMENT_BYTES / MIB,
  bots: { ...DEFAULT_BOTS, areWanted: true },
  logLevel: "info",
  markets: [...DEFAULT_MARKETS],
  server: { trustProxy: false, origins: "*", udf: false },
  http: { ...DEFAULT_HTTP_LIMITS, drainGraceMs: 10_000 },
  metrics: { host: "127.0.0.1" },
  limits: DEFAULT_LIMITS,
  sockets: DEFAULT_SOCKET_LIMITS,
  auth: {
    nonce: "any",
    requireKeyBinding: false,
    maxBoundSessionMs: DEFAULT_BOUND_SESSION_MS,
    rpc: {},
  },
  cohort: { stage: "open", allow: [] },
  risk: {},
  bridge: {},
  snapshots: DEFAULT_CHECKPOINTS,
  history: { hotDays: 30 },
  receipts: { issue: true, witnesses: [], checkpointMs: 1_000, policy: "lenient" },
  index: {
    source: "simulated",
    seed: 1,
    gustsPerHour: 4,
    feeds: [],
    ...DEFAULT_HTTP_SOURCE,
    pollMs: DEFAULT_HTTP_SOURCE.intervalMs,
    intervalMs: 250,
  },
};

/** Checks one source; `origin` is its name for the operator, such as `config.json`. */
export function checkSettings(value: unknown, origin: string): PartialSettings {
  const isSettings = compileFor(value);
  if (!isSettings(value)) throw new StartError(`${origin}: ${problemOf(isSettings.errors)}`);
  const problem = marketsProblem(value) ?? proxiesProblem(value);
  if (problem !== undefined) throw new StartError(`${origin}: ${problem}`);
  return value;
}

function marketsProblem({ markets }: PartialSettings): string | undefined {
  if (markets === undefined) return undefined;
  const missing = missingOfMarket(markets);
  if (missing !== undefined) return missing;
  const merged = readMarkets(markets);
  return merged.length === 0 ? '"markets" leaves no market' : catalogProblem(merged);
}

function proxiesProblem({ server }: PartialSettings): string | undefined {
  const unknown = unknownProxy(server?.trustProxy ?? false);
  if (unknown === undefined) return undefined;
  return `"server.trustProxy": "${unknown}" is not an IP address or network`;
}

/**
 * The schema of the sections that the source has: compiling all of them takes a fifth of a second.
 * Without the meta-schema, which takes longer to compile than this schema.
 */
function compileFor(value: unknown): ValidateFunction<PartialSettings> {
  const isPresent = ([key]: [string, unknown]) =>
    typeof value === "object" && value !== null && Object.hasOwn(value, key);
  const properties = Object.fromEntries(
    Object.entries(SettingsSchema.properties).filter(isPresent),
  );
  // Verbose: an error has its schema, whose description says what is expected.
  const options = { allowUnionTypes: true, meta: false, validateSchema: false, verbose: true };
  const ajv = new Ajv(options);
  return ajv.compile<PartialSettings>({ ...SettingsSchema, properties });
}

/** Sources in order of precedence: the first that has a setting wins. */
export function joinSettings(sources: readonly PartialSettings[]): Settings {
  let settings = DEFAULT_SETTINGS;
  for (const source of [...sources].reverse()) {
    settings = {
      ...settings,
      ...source,
      markets: source.markets === undefined ? settings.markets : readMarkets(source.markets),
      bots: joinBots(settings.bots, source.bots),
      server: { ...settings.server, ...source.server },
      http: { ...settings.http, ...source.http },
      metrics: { ...settings.metrics, ...source.metrics },
      limits: { ...settings.limits, ...source.limits },
      sockets: { ...settings.sockets, ...source.sockets },
      auth: { ...settings.auth, ...source.auth },
      cohort: { ...settings.cohort, ...source.cohort },
      risk: { ...settings.risk, ...source.risk },
      snapshots: { ...settings.snapshots, ...source.snapshots },
      history: { ...settings.history, ...source.history },
      receipts: { ...settings.receipts, ...source.receipts },
      index: { ...settings.index, ...source.index },
      bridge: { ...settings.bridge, ...source.bridge },
      link: joinLink(settings.link, source.link),
      ...joinLog(settings.log, source.log),
    };
  }
  // Two valid settings from two sources can contradict each other.
  const problem = httpLimitsProblem(settings.http) ?? socketLimitsProblem(settings.sockets);
  if (problem !== undefined) throw new StartError(problem);
  return settings;
}

/** Files given by a flag replace those of the file one by one. */
function joinLink(before: Settings["link"], source: PartialSettings["link"]): Settings["link"] {
  const tls = { ...before.tls, ...source?.tls };
  return { ...before, ...source, ...(Object.keys(tls).length === 0 ? {} : { tls }) };
}

/** Servers given by a flag keep the file's credentials. */
function joinLog(before: Settings["log"], source: PartialSettings["log"]): Pick<Settings, "log"> {
  const log = source === undefined ? before : { ...before, ...source };
  return log === undefined ? {} : { log };
}

/** A boolean turns them on or off and keeps their settings; settings turn them on. */
function joinBots(before: Settings["bots"], source: PartialSettings["bots"]): Settings["bots"] {
  if (source === undefined) return before;
  if (typeof source === "boolean") return { ...before, areWanted: source };
  return { ...before, ...source, areWanted: true };
}

function problemOf(errors: readonly ErrorObject[] | null | undefined): string {
  // For a union, the deepest error is about the alternative that was meant.
  const error = errors?.reduce((best, one) => (depthOf(one) > depthOf(best) ? one : best));
  if (error === undefined) return "wrong shape";
  const path = error.instancePath.slice(1).replaceAll("/", ".");
  const params: Readonly<Record<string, unknown>> = error.params;
  const key = params.additionalProperty ?? params.missingProperty;
  const at = [path, key].filter((part) => part !== undefined && part !== "").join(".");
  if (error.keyword === "additionalProperties") return `unknown key "${at}"`;
  if (error.keyword === "required") return `"${at}" is missing`;
  if (error.keyword === "enum" && Array.isArray(params.allowedValues)) {
    return `"${at}" must be one of ${params.allowedValues.join(", ")}`;
  }
  const words = expectedIn(error, errors ?? []);
  if (words !== undefined) return `"${at}" must be ${words}`;
  return at === "" ? (error.message ?? "wrong shape") : `"${at}" ${error.message ?? "is wrong"}`;
}

/** What was expected, in words: of the union around the error, a pattern or a constant. */
function expectedIn(error: ErrorObject, errors: readonly ErrorObject[]): string | undefined {
  const isUnion = ({ keyword, instancePath }: ErrorObject) =>
    keyword === "anyOf" && instancePath === error.instancePath;
  const { parentSchema, keyword, params } = errors.find(isUnion) ?? error;
  const described: unknown = parentSchema?.description;
  if (keyword === "const") return JSON.stringify(params.allowedValue);
  const hasWords = keyword === "anyOf" || keyword === "pattern";
  return hasWords && typeof described === "string" ? described : undefined;
}

function depthOf({ instancePath, keyword }: ErrorObject): number {
  return instancePath.split("/").length + (keyword === "additionalProperties" ? 1 : 0);
}
