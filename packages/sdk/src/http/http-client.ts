/**
 * REST calls: an operation of the contract and its input in, its typed result or a typed error out.
 *
 * A request is built once and every try sends the same bytes. Requests that count against the same
 * limit of the server share a `Pacer`, so that reads never delay cancels. Every operation may be sent
 * twice; the caller knows what that means for its outcome. With several gateways, a request whose
 * gateway is lost fails immediately, and its next try goes to another.
 */

import {
  ErrorBody,
  fetchWithin,
  HISTORY_HEADER,
  MIN_POSITION_HEADER,
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
import { ConnectionError, PerpgateError, TimeoutError } from "../errors.js";
import {
  type Attempt,
  type CallOptions,
  type RetryRules,
  rulesWith,
  withRetries,
} from "../retry.js";
import { hasShape } from "./answer-shape.js";
import { connectionFailure, isGatewayLost, refusedError, unexpectedAnswer } from "./failures.js";
import {
  type FetchLike,
  type Gateways,
  positionIn,
  type RequestLike,
  type ResponseLike,
} from "./gateways.js";
import { type HeadersLike, limitStateOf, retryAfterMsOf } from "./limit-headers.js";
import { Pacer } from "./pacer.js";

interface HttpSettings {
  /** Addresses without a slash at the end. */
  readonly gateways: Gateways;
  readonly fetch: FetchLike;
  readonly rules: RetryRules;
  readonly isPaced: boolean;
  readonly onHistoryBefore?: ((position: number) => void) | undefined;
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

interface Answer<T> {
  readonly value: T;
  readonly headers: HeadersLike;
}

const MAX_IN_FLIGHT = 64;

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
    const choosing = this.settings.gateways.chosen();
    if (choosing === undefined) return this.queue(operation, input, attempt);
    return choosing.then(() => this.queue(operation, input, attempt));
  }

  /** A request that waits while the gateway changes waits for the limit of the next one instead. */
  private async queue<O extends Operation>(
    operation: O,
    input: Input<O>,
    attempt: Attempt,
  ): Promise<Answer<ResultOf<O>>> {
    const { session, options } = input;
    const { gateways } = this.settings;
    const limit = operation.limit ?? (session === undefined ? "reads" : "cancels");
    for (;;) {
      const { url } = gateways;
      const pacer = this.pacer(limit, session, url);
      const wait = gateways.untilChange(options?.signal);
      let isSent = false;
      try {
        return await pacer.run(wait.signal, () => {
          wait.end();
          wait.signal?.throwIfAborted();
          isSent = true;
          return this.exchange(url, operation, input, attempt, pacer);
        });
      } catch (error) {
        const isMoved = wait.signal?.aborted === true && options?.signal?.aborted !== true;
        if (isSent || !isMoved) throw error;
      } finally {
        wait.end();
      }
    }
  }

  /**
   * Each gateway counts for itself: by account if there is a session, else by client address. The pacer
   * is that of the gateway in use by default.
   */
  pacer(
    limit: LimitName,
    session?: SessionIdentity,
    url: string = this.settings.gateways.url,
  ): Pacer {
    const key = `${url} ${limit}${session === undefined ? "" : ` of ${session.address}`}`;
    let pacer = this.pacers.get(key);
    if (pacer === undefined) {
      pacer = new Pacer(MAX_IN_FLIGHT);
      this.pacers.set(key, pacer);
    }
    return pacer;
  }

  private async exchange<O extends Operation>(
    url: string,
    operation: O,
    input: Input<O>,
    attempt: Attempt,
    pacer: Pacer,
  ): Promise<Answer<ResultOf<O>>> {
    attempt.begin();
    const { gateways } = this.settings;
    try {
      const answer = await this.ask(url, operation, input, attempt, pacer);
      gateways.answered(url);
      return answer;
    } catch (error) {
      if (error instanceof PerpgateError || error instanceof ConnectionError) {
        error.gateway = gateways.oneOfSeveral(url);
      }
      if (isGatewayLost(error)) error.hasOther = gateways.lost(url);
      throw error;
    }
  }

  private async ask<O extends Operation>(
    gateway: string,
    operation: O,
    input: Input<O>,
    attempt: Attempt,
    pacer: Pacer,
  ): Promise<Answer<ResultOf<O>>> {
    const { gateways } = this.settings;
    const path = pathOf(operation, input.params);
    const name = `${operation.method} ${path}`;
    const url = gateway + path + queryText(input.query);
    const shownBefore = gateways.positionOf(gateway);
    const { status, headers, text } = await gateways.whileAlive(
      gateway,
      input.options?.signal,
      (watched) =>
        fetchNamed(name, attempt.timeoutMs, watched, (signal) =>
          this.settings.fetch(url, requestOf(operation, input, gateways.position, signal)),
        ),
    );
    const position = positionIn(headers);
    gateways.shown(gateway, position);
    if (this.settings.isPaced) {
      const state = limitStateOf(headers);
      if (state !== undefined) pacer.learn(state);
    }
    if (status >= 200 && status < 300) {
      const value = operation.success.type === "text/plain" ? text : jsonOf(text);
      if (value === undefined) throw new ConnectionError(`the response to ${name} was cut`);
      if (!hasShape<O["success"]["schema"]>(operation.success.schema, value)) {
        throw unexpectedOf(name, status, "another shape");
      }
      const before = headers.get(HISTORY_HEADER);
      const { onHistoryBefore = this.settings.onHistoryBefore } = input.options ?? {};
      if (before !== null) onHistoryBefore?.(Number(before));
      return { value, headers };
    }
    const error = errorOf(name, status, headers, text);
    if (this.settings.isPaced && status === 429) pacer.holdFor(error.retryAfterMs ?? 0);
    if (error.code === "lagging" && position < shownBefore) gateways.restarted(position);
    throw error;
  }
}

async function fetchNamed(
  name: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  send: (signal: AbortSignal) => Promise<ResponseLike>,
): Promise<{ status: number; headers: HeadersLike; text: string }> {
  try {
    return await fetchWithin({ timeoutMs, signal, maxBytes: Number.POSITIVE_INFINITY }, send);
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason;
    throw cause instanceof TimeLimitError
      ? new TimeoutError(`${name}: no response within ${timeoutMs} ms`, { cause })
      : connectionFailure(name, cause);
  }
}

function requestOf<O extends Operation>(
  { method }: O,
  { session, signed, body }: Input<O>,
  position: number,
  signal: AbortSignal,
): RequestLike {
  const headers: Record<string, string> = {};
  // Another gateway may lag behind the one that showed this position.
  if (method === "GET" && position > 0) headers[MIN_POSITION_HEADER] = String(position);
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
  if (!hasShape(ErrorBody, body)) return unexpectedOf(name, status, "no error body");
  return refusedError(body, status, retryAfterMsOf(headers));
}

function unexpectedOf(name: string, status: number, problem: string): PerpgateError {
  const message = `${name} returned status ${status} with ${problem}; is this the address of a gateway?`;
  return unexpectedAnswer(message, status);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
