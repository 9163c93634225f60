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
import type { SocketContext, SocketOperation } from "./operations/operation.js";
import { order } from "./operations/order.js";
import { ping } from "./operations/ping.js";
import { session } from "./operations/session.js";
import { subscribe } from "./operations/subscribe.js";
import { unsubscribe } from "./operations/unsubscribe.js";
import { type FaultSink, type MessageId, SocketCall } from "./socket-call.js";
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
/** The buckets of a connection: who is at the limit of one may still answer a ping. */
const MESSAGES = 0;
const CONTROL_FRAMES = 1;

export class Messages {
  private readonly rate: TokenBuckets<number>;
  /** Messages refused in a row for coming too fast. */
  private refused = 0;

  constructor(
    private readonly connection: Connection,
    private readonly context: SocketContext,
    private readonly onFault: FaultSink,
  ) {
    this.rate = new TokenBuckets(messageRule(context.limits));
  }

  receive(data: Buffer, isBinary: boolean): void {
    const { connection } = this;
    const receivedAt = performance.now();
    const call = new SocketCall(connection, connection.countMessage(), receivedAt, this.onFault);
    if (!this.isWithinRate(receivedAt, call)) return;
    try {
      if (isBinary)
        throw new Refusal("invalid_request", { problem: "Send JSON as a text message" });
      const message = parseStrictJson(data.toString("utf8"));
      readEcho(message, call);
      const operation = OPERATIONS.get(call.op ?? "");
      if (operation === undefined) throw unknownOperation(message, call.op);
      operation.run(message, call, this.context);
    } catch (error) {
      call.refuse(error);
    }
  }

  receivePing(data: Buffer): void {
    if (this.isControlWithinRate()) this.connection.pong(data);
  }

  /** One that was asked for is free. */
  receivePong(): void {
    if (!this.connection.takePong()) this.isControlWithinRate();
  }

  /** There is no answer that could refuse a control frame: past the limit the socket is closed. */
  private isControlWithinRate(): boolean {
    const { isAllowed } = this.rate.take(CONTROL_FRAMES, performance.now());
    if (!isAllowed) this.connection.close(CLOSE.rateLimited);
    return isAllowed;
  }

  /** Refused unread, so without its `id`; one that keeps on is closed. */
  private isWithinRate(now: number, call: SocketCall): boolean {
    const { isAllowed, retryAfterMs } = this.rate.take(MESSAGES, now);
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
    call.refuse(new Refusal("rate_limited", { retryAfterSeconds }, { details }));
    return false;
  }
}

/** Takes over what an answer repeats of its message. */
function readEcho(message: unknown, call: SocketCall): void {
  if (typeof message !== "object" || message === null) return;
  if ("id" in message && isId(message.id)) call.id = message.id;
  if ("op" in message && typeof message.op === "string") call.op = message.op.slice(0, MAX_SHOWN);
}

function isId(id: unknown): id is MessageId {
  return typeof id === "string" ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id);
}

function unknownOperation(message: unknown, op: string | undefined): Refusal {
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
  if (!isObject) return new Refusal("invalid_request", { problem: "Send a JSON object" });
  if (op === undefined) {
    return new Refusal("invalid_request", { problem: "op is missing" }, { field: "op" });
  }
  return new Refusal("unknown_operation", { op }, { field: "op" });
}
