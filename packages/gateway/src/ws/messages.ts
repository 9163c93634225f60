/**
 * From what a client sent to the answer it gets: every message is answered, by `ok`, `pong` or
 * `error`, with its `id` if it has one that can be read.
 *
 * Text is read as strictly as a request's body. Whatever a message holds, the worst it earns is an
 * `error`; whatever fails on this side is logged whole and shown as `internal_error`.
 */

import { ApiError, parseStrictJson } from "@perpgate/protocol";
import { COST, readCost } from "../limits/costs.js";
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

/** Found before the message is parsed, so it may be fooled; its sender then only spends a reserve. */
const EXIT_OPERATION = /"op"\s*:\s*"(?:cancel|order)"/;

interface HeldMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
  readonly call: SocketCall;
}

export class Messages {
  private readonly rate: TokenBuckets<number>;
  /** Messages refused in a row for coming too fast. */
  private refused = 0;
  private readonly held: HeldMessage[] = [];
  private giveUpWaiting: (() => void) | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly context: SocketContext,
    private readonly onFault: FaultSink,
  ) {
    this.rate = new TokenBuckets(messageRule(context.limits));
  }

  receive(data: Buffer, isBinary: boolean): void {
    const { connection } = this;
    // `ws` still raises what the last read brought after the decision to close.
    if (!connection.isOpen) {
      connection.countLate();
      return;
    }
    const isOwing = this.held.length > 0 || connection.isOwing;
    connection.charge(COST.message + readCost(data.length));
    const receivedAt = performance.now();
    const call = new SocketCall(connection, connection.countMessage(), receivedAt, this.onFault);
    if (!this.isWithinRate(receivedAt, call, isOwing)) return;
    if (isOwing && !this.isExit(data, isBinary, call)) this.hold({ data, isBinary, call });
    else this.run(data, isBinary, call);
  }

  private run(data: Buffer, isBinary: boolean, call: SocketCall): void {
    try {
      if (isBinary)
        throw new ApiError("invalid_request", { problem: "Send JSON as a text message" });
      this.context.gateway.budgets.noteParsed(data.length);
      const message = parseStrictJson(data.toString("utf8"));
      readEcho(message, call);
      const operation = OPERATIONS.get(call.op ?? "");
      if (operation === undefined) throw unknownOperation(message, call.op);
      operation.run(message, call, this.context);
    } catch (error) {
      call.refuse(error);
    }
  }

  /**
   * Whether the message of a client over its budget may pass at the cost of the reserve: a short one
   * of a live session that cancels, or that orders, since an order may be a reduction. One that is
   * not waits in its operation.
   */
  private isExit(data: Buffer, isBinary: boolean, call: SocketCall): boolean {
    const { session, address } = this.connection;
    const { budgets, signedBytes } = this.context.gateway;
    if (session === undefined || isBinary || data.length > signedBytes * 2) return false;
    if (!EXIT_OPERATION.test(data.toString("latin1"))) return false;
    if (!budgets.takeReserve(address, COST.message)) return false;
    call.overBudget = "address";
    return true;
  }

  /** The socket is not read until the address has paid; what the last read brought waits here. */
  private hold(message: HeldMessage): void {
    const { connection, context } = this;
    if (this.held.length >= context.limits.heldMessages) {
      connection.closeUnread(CLOSE.rateLimited);
      this.held.length = 0;
      return;
    }
    this.held.push(message);
    if (this.held.length > 1) return;
    connection.pause();
    this.waitForTurn();
  }

  private waitForTurn(): void {
    const { address } = this.connection;
    this.giveUpWaiting = this.context.gateway.budgets.whenPaid(address, () => {
      const message = this.held.shift();
      if (message === undefined || !this.connection.isOpen) return;
      this.connection.charge(COST.message);
      this.run(message.data, message.isBinary, message.call);
      if (this.held.length > 0) this.waitForTurn();
      else this.connection.resume();
    });
  }

  /** The socket is gone: what waits is not served. */
  end(): void {
    this.held.length = 0;
    this.giveUpWaiting?.();
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
    if (!this.connection.isOpen) {
      this.connection.countLate();
      return false;
    }
    this.connection.charge(COST.controlFrame);
    const { isAllowed } = this.rate.take(CONTROL_FRAMES, performance.now());
    if (!isAllowed) this.connection.closeUnread(CLOSE.rateLimited);
    return isAllowed;
  }

  /** Refused unread, so without its `id`; one that keeps on, or is over its budget, is closed. */
  private isWithinRate(now: number, call: SocketCall, isOwing: boolean): boolean {
    const { isAllowed, retryAfterMs } = this.rate.take(MESSAGES, now);
    if (isAllowed) {
      this.refused = 0;
      return true;
    }
    this.refused++;
    if (isOwing || this.refused > this.context.limits.messagesBurst) {
      this.connection.closeUnread(CLOSE.rateLimited);
      return false;
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const details = { limit: "messages", retryAfterMs: Math.ceil(retryAfterMs) };
    call.refuse(new ApiError("rate_limited", { retryAfterSeconds }, { details }));
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

function unknownOperation(message: unknown, op: string | undefined): ApiError {
  const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
  if (!isObject) return new ApiError("invalid_request", { problem: "Send a JSON object" });
  if (op === undefined) {
    return new ApiError("invalid_request", { problem: "op is missing" }, { field: "op" });
  }
  return new ApiError("unknown_operation", { op }, { field: "op" });
}
