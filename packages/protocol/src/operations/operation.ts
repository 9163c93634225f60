/**
 * The contract of one REST operation: how it is called, what it takes and returns, what it costs.
 *
 * The gateway binds a handler to each (routes, validation, limits, OpenAPI); the SDK and the attestor
 * build requests from it. Each operation is a module without side effects, so a bundle holds only the
 * ones it calls.
 */

import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { ErrorCode } from "../errors/error-table.js";

/** An operation without a body ignores the body of a request. */
export const noBody = Type.Unknown();
/** For operations to override: what they do not take. */
export const NO_INPUT = { params: Type.Object({}), query: Type.Object({}), body: noBody };

/** Kinds of operation that share how they are called; an operation adds its path, cost and input. */
const READ = { method: "GET", ...NO_INPUT } as const;
export const PUBLIC_READ = {
  ...READ,
  access: "public",
  needsVenue: true,
  limit: "reads",
} as const;
/** The gateway answers these itself. */
export const GATEWAY_READ = { ...PUBLIC_READ, needsVenue: false } as const;
export const ACCOUNT_READ = {
  ...READ,
  access: "bearer",
  needsVenue: true,
  limit: "account-reads",
} as const;
export const CANCEL = {
  method: "POST",
  access: "bearer",
  needsVenue: true,
  limit: "cancels",
  bodyBytes: 1_024,
  ...NO_INPUT,
} as const;
export const SIGNED_ORDER = {
  method: "POST",
  access: "signed",
  needsVenue: true,
  limit: "orders",
  bodyBytes: "signed",
  ...NO_INPUT,
} as const;

/** The success of an operation that returns a document of another standard. */
export const JSON_DOCUMENT = {
  status: 200,
  description: "The document",
  schema: Type.Record(Type.String(), Type.Unknown()),
} as const;

export type LimitName =
  | "reads"
  | "account-reads"
  | "orders"
  | "cancels"
  | "sign-ins"
  | "deposits"
  | "attestors";

/** `bearer` needs a session token, `signed` also the session key's signature over the body. */
export type Access = "public" | "bearer" | "signed";

/** The signature that an operation with `bearer` access takes. */
export interface SignatureRule {
  readonly isRequired: boolean;
  /** What the session key signs. */
  readonly over: string;
}

export interface Operation {
  readonly id: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** OpenAPI style: `/v1/orders/{id}/cancel`. */
  readonly path: string;
  readonly tag: "auth" | "markets" | "orders" | "account" | "bridge" | "blocks" | "service";
  readonly summary: string;
  readonly access: Access;
  readonly signature?: SignatureRule;
  /** Whether it fails with `venue_unavailable` while no venue is attached to the gateway. */
  readonly needsVenue: boolean;
  /** The limit that requests count against, by its name in the headers. */
  readonly limit?: LimitName;
  /** The limit of a read with `X-Service-Sig`, if it is another. */
  readonly signedLimit?: "attestors";
  /** Microseconds of processor time beyond those of any request and of the response's bytes. */
  readonly costMicros: number;
  /** Maximum bytes of the body if below the server's maximum; `signed` and `batch` are those of the settings. */
  readonly bodyBytes?: number | "signed" | "batch";
  /** Whether it lists rows of which a venue may keep those of the last days alone. */
  readonly endsAtEdge?: boolean;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TSchema;
  readonly success: {
    readonly status: 200 | 202;
    readonly description: string;
    readonly schema: TSchema;
    /** By default JSON. */
    readonly type?: "text/plain";
  };
  /** The codes of this operation's own rules; `errorCodesOf` adds those of its kind. */
  readonly errors: readonly ErrorCode[];
}

export type ParamsOf<O extends Operation> = Static<O["params"]>;
export type QueryOf<O extends Operation> = Static<O["query"]>;
export type BodyOf<O extends Operation> = Static<O["body"]>;
export type ResultOf<O extends Operation> = Static<O["success"]["schema"]>;

/**
 * The path with its parameters filled in: `/v1/orders/48213/cancel`.
 *
 * @throws TypeError if a parameter is missing.
 */
export function pathOf({ id, path }: Operation, params: object = {}): string {
  const values = new Map<string, unknown>(Object.entries(params));
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new TypeError(`${id} needs the parameter ${name}`);
    return encodeURIComponent(String(value));
  });
}

/** Every code that the operation may fail with: those of its own rules, then those of its kind. */
export function errorCodesOf(operation: Operation): readonly ErrorCode[] {
  const codes: ErrorCode[] = ["internal_error", "stopped", "unknown_parameter"];
  if (operation.needsVenue) codes.push("lagging");
  if (operation.needsVenue && operation.method !== "GET") {
    codes.push("not_executed", "outcome_unknown");
  }
  if (operation.limit !== undefined) codes.push("rate_limited");
  if (operation.access === "signed") codes.push("overloaded");
  const hasInput =
    operation.body !== noBody ||
    Object.keys(operation.params.properties).length > 0 ||
    Object.keys(operation.query.properties).length > 0;
  if (hasInput) codes.push("invalid_request");
  if (operation.method !== "GET") {
    codes.push("malformed_json", "duplicate_key", "forbidden_key", "number_not_exact");
    codes.push("body_too_large", "unsupported_media_type");
  }
  if (operation.access !== "public") codes.push("token_required", "invalid_token");
  if (operation.needsVenue) codes.push("venue_unavailable");
  return [...new Set([...operation.errors, ...codes])];
}
