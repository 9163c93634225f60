/**
 * From what a client sent to the answer it gets: every message is answered, by `ok`, `pong` or
 * `error`, with its `id` if it has one that can be read.
 *
 * Text is read as strictly as a request's body. Whatever a message holds, the worst it earns is an
 * `error`; whatever fails on this side is logged whole and shown as `internal_error`.
 */

import { parseStrictJson, Refusal } from "@perpgate/protocol";
import { TokenBuckets } from "../limits/token-buckets.js";
import { CLOSE } from "./close-codes.js";
import type { Connection } from "./connection.js";
import { auth } from "./operations/auth.js";
import { cancel } from "./operations/cancel.js";
import type { SocketCall, SocketContext, SocketOperation } from "./operations/operation.js";
import { order } from "./operations/order.js";
import { ping } from "./operations/ping.js";
import { session } from "./operations/session.js";
import { subscribe } from "./operations/subscribe.js";
import { unsubscribe } from "./operations/unsubscribe.js";
import { messageRule } from "./socket-limits.js";

const OPERATIONS: ReadonlyMap<string, SocketOperation> = new Map([
  ["subscribe", subscribe],
  ["unsubscribe", unsubscribe],
  ["auth", auth],
  ["ping", ping],
  ["order", order],
  ["cancel", cancel],
  ["session", session],
]);
const MAX_ID_LENGTH = 64;
const MAX_SHOWN = 32;
/** The one bucket of a connection. */
const ALL = 0;

/** What an answer repeats of its message. */
interface Echo {
  readonly id?: string | number;
  readonly op?: string;
}

export class Messages {
  private readonly rate: TokenBuckets<number>;
  /** Messages refused in a row for coming too fast. */
  private refused = 0;

  constructor(
    private readonly connection: Connection,
    private readonly context: SocketContext,
    private readonly onFault: (error: unknown, requestId: string) => void,
  ) {
    this.rate = new TokenBuckets(messageRule(context.limits));
  }

  receive(data: Buffer, isBinary: boolean): void {
    const receivedAt = performance.now();
    const requestId = this.connection.nextRequestId();
    if (!this.isWithinRate(receivedAt, requestId)) return;
    let echo: Echo = {};
    try {
      if (isBinary)
        throw new Refusal("invalid_request", { problem: "Send JSON as a text message" });
      const message = parseStrictJson(data.toString("utf8"));
      echo = echoOf(message);
      const operation = OPERATIONS.get(echo.op ?? "");
      if (operation === undefined) throw unknownOperation(message);
      this.run(operation, message, echo, requestId, receivedAt);
    } catch (error) {
      this.fail(error, echo, requestId);
    }
  }

  private run(
    operation: SocketOperation,
    message: unknown,
    echo: Echo,
    requestId: string,
    receivedAt: number,
  ): void {
    const call: SocketCall<unknown> = {
      message,
      connection: this.connection,
      requestId,
      receivedAt,
      refuse: (error, about) => this.fail(error, { ...echo, ...about }, requestId),
      ok: (fields) => this.connection.answer({ t: "ok", d: { ...echo, ...fields } }),
    };
    this.connection.track(
      operation.answer(call, this.context).then(
        (fields) => {
          if (fields !== undefined) call.ok(fields);
        },
        (error: unknown) => this.fail(error, echo, requestId),
      ),
    );
  }

  private fail(error: unknown, echo: object, requestId: string): void {
    if (!(error instanceof Refusal)) this.onFault(error, requestId);
    const refusal = error instanceof Refusal ? error : new Refusal("internal_error", {});
    this.connection.answer({ t: "error", d: { ...echo, ...refusal.toBody(requestId) } });
  }

  /** Refused unread, so without its `id`; one that keeps on is closed. */
  private isWithinRate(now: number, requestId: string): boolean {
    const { isAllowed, retryAfterMs } = this.rate.take(ALL, now);
    if (isAllowed) {
      this.refused = 0;
      return true;
    }
    this.refused++;
    if (this.refused > this.context.limits.messagesBurst) {
      this.connection.close(CLOSE.rateLimited);
      return false;
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const details = { limit: "messages", retryAfterMs: Math.ceil(retryAfterMs) };
    this.fail(new Refusal("rate_limited", { retryAfterSeconds }, { details }), {}, requestId);
    return false;
  }
}

function echoOf(message: unknown): Echo {
  if (typeof message !== "object" || message === null) return {};
  const { id, op }: { id?: unknown; op?: unknown } = { ...message };
  return {
    ...(isId(id) ? { id } : {}),
    ...(typeof op === "string" ? { op: op.slice(0, MAX_SHOWN) } : {}),
  };
}

function isId(id: unknown): id is string | number {
  return typeof id === "string" ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}

function unknownOperation(message: unknown): Refusal {
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
  if (!isObject) return new Refusal("invalid_request", { problem: "Send a JSON object" });
  const { op } = echoOf(message);
  if (op === undefined) {
    return new Refusal("invalid_request", { problem: "op is missing" }, { field: "op" });
  }
  return new Refusal("unknown_operation", { op }, { field: "op" });
}
