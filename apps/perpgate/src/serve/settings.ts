/**
 * Settings: their defaults, and how the sources are merged.
 *
 * A flag wins over the environment, the environment over the file, the file over the default. Each
 * source is checked separately, so that an error names the source and the key. Unknown keys are
 * errors: a misspelt setting must not silently become its default.
 */

import { type BotSettings, DEFAULT_BOTS } from "@perpgate/bots/settings";
import type { BridgeSettings } from "@perpgate/bridge/settings";
import type { LimitSettings } from "@perpgate/gateway";
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
import type { VenueParameters } from "@perpgate/venue";
import { type CheckpointOptions, DEFAULT_CHECKPOINTS } from "@perpgate/venue/options";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { StartError } from "../cli/start-error.js";
import { DEFAULT_DATA } from "../operator/data-option.js";
import { missingOfMarket, readMarkets } from "./market-changes.js";
import { type PartialSettings, SettingsSchema } from "./settings-schema.js";

/** `Part` with the keys `Always` there: a default decides them. */
type Decided<Part, Always extends keyof Part> = Readonly<Part & Required<Pick<Part, Always>>>;
type Sections = Required<PartialSettings>;

/** The settings in force. What has no default is undefined unless a source has it. */
export interface Settings
  extends Readonly<Pick<PartialSettings, "edges" | "name" | "log" | "region" | "archive">>,
    Readonly<Pick<Sections, "host" | "port" | "data" | "link" | "segmentMiB" | "logLevel">> {
  readonly bots: BotSettings & { readonly areWanted: boolean };
  readonly markets: MarketDefinition[];
  readonly server: Decided<Sections["server"], "trustProxy" | "origins" | "udf">;
  readonly http: HttpLimits & { readonly drainGraceMs: number };
  /** Without a port the usual one, or a free one if that is in use. */
  readonly metrics: Decided<Sections["metrics"], "host">;
  readonly limits: LimitSettings;
  readonly sockets: SocketLimits;
  readonly auth: Decided<
    Sections["auth"],
    "nonce" | "requireKeyBinding" | "maxBoundSessionMs" | "rpc"
  >;
  readonly cohort: Readonly<Required<Sections["cohort"]>>;
  readonly risk: Partial<VenueParameters>;
  readonly snapshots: CheckpointOptions;
  readonly history: Decided<Sections["history"], "hotDays">;
  readonly receipts: Decided<
    Sections["receipts"],
    "issue" | "witnesses" | "checkpointMs" | "policy"
  >;
  /** `resolveBridge` checks the rest. */
  readonly bridge: BridgeSettings;
  /** Feeds are asked every `pollMs`; `intervalMs` is how often prices go to the venue. */
  readonly index: HttpSourceSettings &
    Required<Pick<Sections["index"], "source" | "seed" | "gustsPerHour" | "pollMs">>;
}

/** Of metrics, unless the settings name another: that of Prometheus exporters. */
export const USUAL_METRICS_PORT = 9464;

export const MIB = 1024 * 1024;

export const DEFAULT_SETTINGS: Settings = {
  host: "127.0.0.1",
  port: 8080,
  data: DEFAULT_DATA,
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
