/**
 * Settings: their schema, their defaults, and the rule that joins the sources.
 *
 * Flag before environment before file before default. Each source is judged alone, so that a
 * refusal can name the source and the key. An unknown key is refused everywhere: a misspelt
 * setting must not fall back to a default in silence.
 */

import { DEFAULT_HTTP_LIMITS, type HttpLimits } from "@perpgate/gateway/limits";
import { catalogProblem, DEFAULT_MARKETS, MarketDefinition } from "@perpgate/protocol";
import { Ajv, type ErrorObject } from "ajv";
import { type Static, Type } from "typebox";
import { StartError } from "./start-error.js";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const Milliseconds = Type.Integer({ minimum: 1, maximum: 3_600_000 });

const HttpSettings = Type.Partial(
  Type.Object({
    bodyBytes: Type.Integer({ minimum: 1_024, maximum: 16_777_216 }),
    headersTimeoutMs: Milliseconds,
    requestTimeoutMs: Milliseconds,
    idleTimeoutMs: Milliseconds,
    keepAliveTimeoutMs: Milliseconds,
    timeoutCheckIntervalMs: Milliseconds,
    maxConnections: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    drainGraceMs: Milliseconds,
  }),
  { additionalProperties: false },
);

/** Every setting, each optional: the shape of a configuration file and of any other source. */
export const PartialSettings = Type.Partial(
  Type.Object({
    host: Type.String({ minLength: 1 }),
    port: Type.Integer({ minimum: 0, maximum: 65_535 }),
    data: Type.String({ minLength: 1 }),
    bots: Type.Boolean(),
    logLevel: Type.Enum([...LOG_LEVELS]),
    markets: Type.Array(MarketDefinition, { minItems: 1 }),
    index: Type.Partial(
      Type.Object({
        seed: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
        intervalMs: Type.Integer({ minimum: 10, maximum: 5_000 }),
      }),
      { additionalProperties: false },
    ),
    auth: Type.Partial(
      Type.Object({
        /** Hex; shared by gateways that must recognise each other's nonces. */
        nonceKey: Type.String({ pattern: "^[0-9a-fA-F]{64,128}$" }),
      }),
      { additionalProperties: false },
    ),
    http: HttpSettings,
  }),
  { title: "Settings", additionalProperties: false },
);
export type PartialSettings = Static<typeof PartialSettings>;

const isSettings = new Ajv({ allErrors: false, coerceTypes: false }).compile<PartialSettings>(
  PartialSettings,
);

export interface Settings extends Required<Omit<PartialSettings, "index" | "auth" | "http">> {
  readonly index: { readonly seed: number; readonly intervalMs: number };
  readonly auth: { readonly nonceKey?: string };
  readonly http: HttpLimits & { readonly drainGraceMs: number };
}

export const DEFAULT_SETTINGS: Settings = {
  host: "127.0.0.1",
  port: 8080,
  data: ".data",
  bots: true,
  logLevel: "info",
  markets: [...DEFAULT_MARKETS],
  index: { seed: 1, intervalMs: 250 },
  auth: {},
  http: { ...DEFAULT_HTTP_LIMITS, drainGraceMs: 10_000 },
};

/** Judges one source; `origin` is how the operator knows it, such as `config.json`. */
export function checkSettings(value: unknown, origin: string): PartialSettings {
  if (!isSettings(value)) throw new StartError(`${origin}: ${problemOf(isSettings.errors)}`);
  const problem = value.markets === undefined ? undefined : catalogProblem(value.markets);
  if (problem !== undefined) throw new StartError(`${origin}: ${problem}`);
  return value;
}

/** Sources in order of precedence: the first that has a setting decides it. */
export function joinSettings(sources: readonly PartialSettings[]): Settings {
  let settings = DEFAULT_SETTINGS;
  for (const source of [...sources].reverse()) {
    settings = {
      ...settings,
      ...source,
      index: { ...settings.index, ...source.index },
      auth: { ...settings.auth, ...source.auth },
      http: { ...settings.http, ...source.http },
    };
  }
  return settings;
}

function problemOf(errors: readonly ErrorObject[] | null | undefined): string {
  const error = errors?.[0];
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
  return at === "" ? (error.message ?? "wrong shape") : `"${at}" ${error.message ?? "is wrong"}`;
}
