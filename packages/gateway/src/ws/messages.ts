/**
 * The messages of one connection: rate limit, budget, strict parsing, dispatch to an operation.
 *
 * Every message is answered with `ok`, `pong` or `error`, with its `id` if it has a valid one. A fault
 * of the server is logged in full and sent as `internal_error`.
 *
 * A message of a client over its budget waits in `held`, in order, and the socket is paused: `whenPaid`
 * runs one message each time the debt is repaid; when `held` is empty the socket is resumed. Messages of an
 * address that has used its part of this turn of the event loop wait for the next turn in the same way: a
 * read may hold thousands of messages, and all sockets of an address may be read in one turn.
 */

import { ApiError, parseStrictJson } from "@perpgate/protocol/core";
import { TokenBuckets } from "@perpgate/protocol/token-buckets";
import { takeReserve } from "../limits/charge-operation.js";
import { COST, readCost } from "../limits/costs.js";
import { rateLimited } from "../limits/limits.js";
import { CLOSE } from "./close-codes.js";
import type { ClientSocket } from "./connection.js";
import type { SocketContext, SocketHandler } from "./operations/operation.js";
import { amend, batch, cancel, cancelAll, margin, order } from "./operations/orders.js";
import { auth, ping, session } from "./operations/session.js";
import { subscribe, unsubscribe } from "./operations/subscriptions.js";
import { type FaultSink, SocketCall, type SocketMessageId } from "./socket-call.js";
import { messageRule } from "./socket-limits.js";

const HANDLERS: ReadonlyMap<string, SocketHandler> = new Map(
  [subscribe, unsubscribe, auth, ping, order, amend, batch, margin, cancel, cancelAll, session].map(
    (handler) => [handler.operation.op, handler],
  ),
);
export const KNOWN_OPERATIONS: readonly string[] = [...HANDLERS.keys()];
const MAX_ID_LENGTH = 64;
const MAX_SHOWN = 32;
/** Keys of the two buckets of a connection: a client at its message limit may still answer pings. */
const MESSAGES = 0;
const CONTROL_FRAMES = 1;

/** Applied to unparsed text, which may have a match elsewhere: `run` compares it with the parsed `op`. */
const EXIT_OPERATION = /"op"\s*:\s*"(cancel|cancelAll|order|batch)"/;

interface ReceivedMessage {
  readonly data: Buffer;
  readonly isBinary: boolean;
  readonly call: SocketCall;
}

export class Messages {
  private readonly rate: TokenBuckets<number>;
  /** Consecutive messages above the rate. */
  private refused = 0;
  private readonly held: ReceivedMessage[] = [];
  private cancelWait: (() => void) | undefined;

  constructor(
    private readonly connection: ClientSocket,
    private readonly context: SocketContext,
    private readonly onFault: FaultSink,
  ) {
    this.rate = new TokenBuckets(messageRule(context.limits));
  }

  receive(data: Buffer, isBinary: boolean): void {
    const { connection } = this;
    connection.counts.messages++;
    connection.counts.receivedBytes += data.length;
    // `ws` still emits the messages of its last read after `close`.
    if (!connection.isOpen) {
      connection.countLate();
      return;
    }
    const { mustWait } = connection;
    const mustYield = this.held.length > 0 || connection.isTurnUsed;
    connection.charge(COST.message + readCost(data.length));
    const receivedAt = performance.now();
    const number = connection.countMessage();
    const { refusals } = this.context.gateway;
    const call = new SocketCall(connection, number, receivedAt, this.onFault, refusals);
    if (!this.isWithinRate(receivedAt, call, mustWait)) return;
    const message = { data, isBinary, call };
    const paidOp = mustWait ? this.paidByReserve(message) : undefined;
    const isHeld = mustWait ? paidOp === undefined : mustYield;
    if (isHeld) this.hold(message);
    else this.run(message, paidOp);
  }

  /** `paidOp`: the operation that the reserve of an address in debt has paid for. */
  private run(received: ReceivedMessage, paidOp?: string): void {
    const { connection } = this;
    const { data, isBinary, call } = received;
    try {
      if (isBinary)
        throw new ApiError("invalid_request", { problem: "Send JSON as a text message" });
      this.context.gateway.budgets.noteParsed(data.length);
      const message = parseStrictJson(data.toString("utf8"));
      readEcho(message, call);
      if (paidOp !== undefined && paidOp !== call.op) {
        call.overBudget = undefined;
        call.asExit = undefined;
        this.hold(received);
        return;
      }
      if (connection.isStopping) throw new ApiError("stopped", {});
      const operation = HANDLERS.get(call.op ?? "");
      if (operation === undefined) throw unknownOperation(message, call.op);
      call.times = connection.counts.timesOf(operation.operation.op);
      operation.run(message, call, this.context);
    } catch (error) {
      call.refuse(error);
    }
  }

  /**
   * The operation of a client over its budget that the reserve pays for: a short message of a live
   * session that cancels or orders. An order that turns out not to reduce waits in its operation.
   */
  private paidByReserve({ data, isBinary, call }: ReceivedMessage): string | undefined {
    const { session } = this.connection;
    const { budgets, signedBytes } = this.context.gateway;
    if (session === undefined || isBinary || data.length > signedBytes * 2) return undefined;
    const op = EXIT_OPERATION.exec(data.toString("latin1"))?.[1];
    if (op === undefined) return undefined;
    const exit = { account: session.account, isOrder: !op.startsWith("cancel") };
    return takeReserve(budgets, call, exit, COST.message + COST.exit) ? op : undefined;
  }

  /** Pauses the socket; messages that `ws` has already read follow into `held`. */
  private hold(message: ReceivedMessage): void {
    const { connection, context } = this;
    const { heldMessages, messagesBurst } = context.limits;
    if (this.held.length >= (connection.mustWait ? heldMessages : messagesBurst)) {
      connection.closeUnread(CLOSE.rateLimited);
      this.held.length = 0;
      return;
    }
    this.held.push(message);
    if (this.held.length > 1) return;
    connection.pause();
    this.runLater();
  }

  /** Runs held messages once the debt is repaid; without debt in the next turn of the event loop. */
  private runLater(): void {
    const { address, mustWait } = this.connection;
    if (mustWait) {
      this.cancelWait = this.context.gateway.budgets.whenPaid(address, () => this.runHeld());
      return;
    }
    const turn = setImmediate(() => this.runHeld());
    this.cancelWait = () => clearImmediate(turn);
  }

  private runHeld(): void {
    const { connection } = this;
    do {
      const message = this.held.shift();
      if (message === undefined || !connection.isOpen) return;
      connection.charge(COST.message);
      this.run(message);
    } while (this.held.length > 0 && !connection.mustWait && !connection.isTurnUsed);
    if (this.held.length > 0) this.runLater();
    else connection.resume();
  }

  /** The socket is closed: held messages are dropped. */
  end(): void {
    this.held.length = 0;
    this.cancelWait?.();
  }

  receivePing(data: Buffer): void {
    if (this.isControlWithinRate()) this.connection.pong(data);
  }

  /** A pong that answers a ping of this side is not counted. */
  receivePong(): void {
    if (!this.connection.takePong()) this.isControlWithinRate();
  }

  /** No frame could refuse a control frame: above the rate the socket is closed. */
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

  /** Refuses without parsing, so without `id`; closes a client that continues or is over its budget. */
  private isWithinRate(now: number, call: SocketCall, mustWait: boolean): boolean {
    const { isAllowed, retryAfterMs } = this.rate.take(MESSAGES, now);
    if (isAllowed) {
      this.refused = 0;
      return true;
    }
    this.refused++;
    if (mustWait || this.refused > this.context.limits.messagesBurst) {
      this.connection.closeUnread(CLOSE.rateLimited);
      return false;
    }
    call.refuse(rateLimited(this.rate.rule.name, retryAfterMs));
    return false;
  }
}

/** Sets `call.id` and `call.op`, which the answer repeats. */
function readEcho(message: unknown, call: SocketCall): void {
  if (typeof message !== "object" || message === null) return;
  if ("id" in message && isId(message.id)) call.id = message.id;
  if ("op" in message && typeof message.op === "string") call.op = message.op.slice(0, MAX_SHOWN);
}

function isId(id: unknown): id is SocketMessageId {
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
