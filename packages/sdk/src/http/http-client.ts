/**
 * REST calls: an operation of the contract and its input in, its typed result or a typed error out.
 *
 * A request is built once and every try sends the same bytes. Requests that count against the same
 * limit of the server share a `Pacer`, so that reads never delay cancels. Every operation may be sent
 * twice; the caller knows what that means for its outcome.
 */

import {
  connectionErrorCode,
  ErrorBody,
  fetchWithin,
  SIGNATURE_HEADER,
  TimeLimitError,
} from "@perpgate/protocol";
import {
  type BodyOf,
  type LimitName,
  type Operation,
  type ParamsOf,
  pathOf,
  type QueryOf,
  type ResultOf,
} from "@perpgate/protocol/operations";
import { ConnectionError, type Outcome, PerpgateError, TimeoutError } from "../errors.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import { hasShape } from "./answer-shape.js";
import { type HeadersLike, limitStateOf, retryAfterMsOf } from "./limit-headers.js";
import { Pacer } from "./pacer.js";

export interface ResponseLike {
  readonly status: number;
  readonly headers: HeadersLike;
  text(): Promise<string>;
}

export interface RequestLike {
  readonly method: string;
  /** Responses are state at one moment and must not be cached. */
  readonly cache: "no-store";
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The part of `fetch` that the client uses. */
export type FetchLike = (url: string, init: RequestLike) => Promise<ResponseLike>;

export interface HttpSettings {
  /** Without a slash at the end. */
  readonly url: string;
  readonly fetch: FetchLike;
  readonly rules: RetryRules;
  readonly isPaced: boolean;
}

/** The account that a request is made for. */
export interface SessionIdentity {
  readonly address: string;
  readonly token: string;
}

export interface Input<O extends Operation> {
  readonly params?: ParamsOf<O>;
  readonly query?: { readonly [Name in keyof QueryOf<O>]?: QueryOf<O>[Name] | undefined };
  readonly body?: BodyOf<O>;
  /** In place of `body`: its JSON text and the session key's signature over that text. */
  readonly signed?: { readonly body: string; readonly signature: string };
  readonly session?: SessionIdentity;
  readonly options?: CallOptions | undefined;
}

export interface Answer<T> {
  readonly value: T;
  readonly headers: HeadersLike;
}

/**
 * Failures of the server (5xx) after which nothing was done. `stopped` is not one of them: it is also
 * the response to a request that is already in the log, which the next start executes.
 */
const NOT_EXECUTED: ReadonlySet<string> = new Set(["overloaded"]);
const MAX_IN_FLIGHT = 64;
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export class HttpClient {
  private readonly pacers = new Map<string, Pacer>();

  constructor(readonly settings: HttpSettings) {}

  async call<O extends Operation>(operation: O, input: Input<O>): Promise<ResultOf<O>> {
    const { options = {} } = input;
    const rules = rulesWith(options, this.settings.rules);
    const { value } = await withRetries(rules, options.signal, (attempt) =>
      this.sendOnce(operation, input, attempt),
    );
    return value;
  }

  /** One try, when its limit permits. */
  sendOnce<O extends Operation>(
    operation: O,
    input: Input<O>,
    attempt: Attempt,
  ): Promise<Answer<ResultOf<O>>> {
    const { session, options } = input;
    const limit = operation.limit ?? (session === undefined ? "reads" : "cancels");
    const pacer = this.pacer(limit, session);
    return pacer.run(options?.signal, () => this.exchange(operation, input, attempt, pacer));
  }

  /** The server counts by account if there is a session, else by client address. */
  pacer(limit: LimitName, session?: SessionIdentity): Pacer {
    const key = session === undefined ? limit : `${limit} of ${session.address}`;
    let pacer = this.pacers.get(key);
    if (pacer === undefined) {
      pacer = new Pacer(MAX_IN_FLIGHT);
      this.pacers.set(key, pacer);
    }
    return pacer;
  }

  private async exchange<O extends Operation>(
    operation: O,
    input: Input<O>,
    attempt: Attempt,
    pacer: Pacer,
  ): Promise<Answer<ResultOf<O>>> {
    attempt.begin();
    const path = pathOf(operation, input.params);
    const name = `${operation.method} ${path}`;
    const url = this.settings.url + path + queryText(input.query);
    const send = (signal: AbortSignal) =>
      this.settings.fetch(url, requestOf(operation, input, signal));
    const { timeoutMs } = attempt;
    const { status, headers, text } = await fetchNamed(name, timeoutMs, input.options, send);
    if (this.settings.isPaced) {
      const state = limitStateOf(headers);
      if (state !== undefined) pacer.learn(state);
    }
    if (status >= 200 && status < 300) {
      const value = jsonOf(text);
      if (value === undefined) throw new ConnectionError(`the response to ${name} was cut`);
      if (!hasShape<O["success"]["schema"]>(operation.success.schema, value)) {
        throw unexpected(name, status, "another shape");
      }
      return { value, headers };
    }
    const error = errorOf(name, status, headers, text);
    if (this.settings.isPaced && status === 429) pacer.holdFor(error.retryAfterMs ?? 0);
    throw error;
  }
}

async function fetchNamed(
  name: string,
  timeoutMs: number,
  { signal }: CallOptions = {},
  send: (signal: AbortSignal) => Promise<ResponseLike>,
): Promise<{ status: number; headers: HeadersLike; text: string }> {
  try {
    return await fetchWithin({ timeoutMs, signal, maxBytes: Number.POSITIVE_INFINITY }, send);
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    if (cause instanceof TimeLimitError) {
      throw new TimeoutError(`${name}: no response within ${timeoutMs} ms`, { cause });
    }
    // Node names the reason of a failed connection; a browser does not, so the outcome is unknown.
    const outcome = NEVER_CONNECTED.has(connectionErrorCode(cause)) ? "not_sent" : "unknown";
    throw new ConnectionError(`${name}: ${reasonOf(cause)}`, { cause, outcome });
  }
}

function requestOf<O extends Operation>(
  { method }: O,
  { session, signed, body }: Input<O>,
  signal: AbortSignal,
): RequestLike {
  const headers: Record<string, string> = {};
  if (session !== undefined) headers.authorization = `Bearer ${session.token}`;
  if (signed !== undefined) headers[SIGNATURE_HEADER] = signed.signature;
  const text = signed?.body ?? (body === undefined ? undefined : JSON.stringify(body));
  if (text === undefined) return { method, cache: "no-store", headers, signal };
  headers["content-type"] = "application/json";
  return { method, cache: "no-store", headers, body: text, signal };
}

function queryText(query: object = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${encodeURIComponent(String(value))}`],
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function errorOf(name: string, status: number, headers: HeadersLike, text: string): PerpgateError {
  const body = jsonOf(text);
  if (!hasShape(ErrorBody, body)) return unexpected(name, status, "no error body");
  return refusalOf(body, status, retryAfterMsOf(headers));
}

/** The error for a body of the error shape; `details.retryAfterMs` is more exact than the header. */
export function refusalOf(
  body: ErrorBody,
  status: number,
  retryAfterMs?: number | undefined,
): PerpgateError {
  const exactMs = body.details?.retryAfterMs;
  const isRefused = isClientError(status) || NOT_EXECUTED.has(body.code);
  const outcome: Outcome = isRefused ? "refused" : "unknown";
  return new PerpgateError(body, {
    status,
    retryAfterMs: typeof exactMs === "number" ? exactMs : retryAfterMs,
    outcome,
  });
}

/** A response that no gateway sends: a proxy's, or that of another service. */
function unexpected(name: string, status: number, problem: string): PerpgateError {
  const message = `${name} returned status ${status} with ${problem}; is this the address of a gateway?`;
  const body = { code: "unexpected_answer", message, requestId: "" };
  return new PerpgateError(body, {
    status,
    outcome: isClientError(status) ? "refused" : "unknown",
  });
}

function isClientError(status: number): boolean {
  return status >= 400 && status < 500;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` puts the reason of its failure one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0] ?? cause.message);
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
