/**
 * REST: one request in, its typed answer or a typed error out.
 *
 * A request is built once and every try sends the very same bytes. Each has a lane, named after the
 * server's limit that it counts against, so that reads never hold up cancels. Every request of the
 * interface may be sent twice: what that means for its outcome is for the caller to know.
 */

import { connectionErrorCode, ErrorBody, fetchWithin, TimeLimitError } from "@perpgate/protocol";
import type { Static, TSchema } from "typebox";
import { ConnectionError, type Outcome, PerpgateError, TimeoutError } from "../errors.js";
import { hasShape } from "./answer-shape.js";
import { type HeadersLike, limitStateOf, retryAfterMsOf } from "./limit-headers.js";
import { Pacer } from "./pacer.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "./retry.js";

export interface ResponseLike {
  readonly status: number;
  readonly headers: HeadersLike;
  text(): Promise<string>;
}

export interface RequestLike {
  readonly method: string;
  /** What was true a moment ago is of no use. */
  readonly cache: "no-store";
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** As much of `fetch` as the client uses. */
export type FetchLike = (url: string, init: RequestLike) => Promise<ResponseLike>;

export interface HttpSettings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly fetch: FetchLike;
  readonly rules: RetryRules;
  readonly isPaced: boolean;
}

export interface Request<T extends TSchema> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly token?: string;
  /** JSON text, sent as it is. */
  readonly body?: string;
  readonly signature?: string;
  readonly answer: T;
  /** The requests that it shares a lane and a limit with. */
  readonly lane: string;
  readonly options?: CallOptions | undefined;
}

export interface Answer<T> {
  readonly value: T;
  readonly headers: HeadersLike;
  readonly attempt: Attempt;
}

/**
 * Failures of the server at its door: nothing was done. All others leave it open, `stopped` too: it
 * is also the answer to what the log already has, and the next start executes that.
 */
const AT_THE_DOOR: ReadonlySet<string> = new Set(["overloaded"]);
const MAX_AT_ONCE = 64;
/** Larger than any response of a gateway. */
const MAX_BODY_BYTES = 64 * 1_024 * 1_024;
/** Node says why there was no connection; a browser does not, and then the outcome is unknown. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export class HttpClient {
  private readonly lanes = new Map<string, Pacer>();

  constructor(readonly settings: HttpSettings) {}

  async ask<T extends TSchema>(request: Request<T>): Promise<Static<T>> {
    return (await this.send(request)).value;
  }

  send<T extends TSchema>(request: Request<T>): Promise<Answer<Static<T>>> {
    const { options = {} } = request;
    const rules = rulesWith(options, this.settings.rules);
    return withRetries(rules, options.signal, (attempt) => this.sendOnce(request, attempt));
  }

  /** One try, in its lane. */
  sendOnce<T extends TSchema>(request: Request<T>, attempt: Attempt): Promise<Answer<Static<T>>> {
    const lane = this.lane(request.lane);
    return lane.run(request.options?.signal, () => this.exchange(request, attempt, lane));
  }

  lane(name: string): Pacer {
    let lane = this.lanes.get(name);
    if (lane === undefined) {
      lane = new Pacer(MAX_AT_ONCE);
      this.lanes.set(name, lane);
    }
    return lane;
  }

  private async exchange<T extends TSchema>(
    request: Request<T>,
    attempt: Attempt,
    lane: Pacer,
  ): Promise<Answer<Static<T>>> {
    attempt.begin();
    const { status, headers, text } = await this.fetchText(request, attempt);
    if (this.settings.isPaced) {
      const state = limitStateOf(headers);
      if (state !== undefined) lane.learn(state);
    }
    if (status >= 200 && status < 300) {
      const value = jsonOf(text);
      if (value === undefined)
        throw new ConnectionError(`the answer to ${nameOf(request)} was cut`);
      if (!hasShape(request.answer, value)) throw unexpected(request, status, "another shape");
      return { value, headers, attempt };
    }
    const error = errorOf(request, status, headers, text);
    if (this.settings.isPaced && status === 429) lane.holdFor(error.retryAfterMs ?? 0);
    throw error;
  }

  private async fetchText(
    request: Request<TSchema>,
    { timeoutMs }: Attempt,
  ): Promise<{ status: number; headers: HeadersLike; text: string }> {
    const { signal } = request.options ?? {};
    const url = this.settings.url + request.path + queryOf(request.query);
    try {
      return await fetchWithin({ timeoutMs, maxBytes: MAX_BODY_BYTES, signal }, (signal) =>
        this.settings.fetch(url, initOf(request, signal)),
      );
    } catch (cause) {
      if (signal?.aborted === true) throw signal.reason;
      if (cause instanceof TimeLimitError) {
        throw new TimeoutError(`${nameOf(request)}: no answer within ${timeoutMs} ms`, { cause });
      }
      const outcome = NEVER_CONNECTED.has(connectionErrorCode(cause)) ? "not_sent" : "unknown";
      throw new ConnectionError(`${nameOf(request)}: ${reasonOf(cause)}`, { cause, outcome });
    }
  }
}

function initOf(request: Request<TSchema>, signal: AbortSignal): RequestLike {
  const { method, token, body, signature } = request;
  const headers: Record<string, string> = {};
  const cache = "no-store";
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (signature !== undefined) headers["x-service-sig"] = signature;
  if (body === undefined) return { method, cache, headers, signal };
  headers["content-type"] = "application/json";
  return { method, cache, headers, body, signal };
}

function queryOf(query: Request<TSchema>["query"] = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function errorOf(
  request: Request<TSchema>,
  status: number,
  headers: HeadersLike,
  text: string,
): PerpgateError {
  const body = jsonOf(text);
  if (!hasShape(ErrorBody, body)) return unexpected(request, status, "no error body");
  return refusalOf(body, status, retryAfterMsOf(headers));
}

/** The error for a body of the error shape; the body knows the wait more exactly than the header. */
export function refusalOf(
  body: ErrorBody,
  status: number,
  retryAfterMs?: number | undefined,
): PerpgateError {
  const exactMs = body.details?.retryAfterMs;
  const isRefused = isClientError(status) || AT_THE_DOOR.has(body.code);
  const outcome: Outcome = isRefused ? "refused" : "unknown";
  return new PerpgateError(body, {
    status,
    retryAfterMs: typeof exactMs === "number" ? exactMs : retryAfterMs,
    outcome,
  });
}

/** An answer that no gateway gives: of a proxy in between, or of something else altogether. */
function unexpected(request: Request<TSchema>, status: number, problem: string): PerpgateError {
  const message = `${nameOf(request)} was answered by status ${status} with ${problem}; is this the address of a gateway?`;
  const body = { code: "unexpected_answer", message, requestId: "" };
  return new PerpgateError(body, {
    status,
    outcome: isClientError(status) ? "refused" : "unknown",
  });
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

function nameOf({ method, path }: Request<TSchema>): string {
  return `${method} ${path}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` hides why it failed one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0] ?? cause.message);
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
