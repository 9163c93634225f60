/**
 * One HTTP connection: serves its requests one at a time and charges their cost.
 *
 * Node parses all that one read returns, up to 64 KiB, and emits every request in it. `current` is
 * served; the others wait in `queue`. The next one starts in a turn of the event loop after the response
 * of `current` is written out, once the client's address is within its budget. While `queue` is not empty
 * or the budget is exceeded, the socket is paused. So a connection buffers at most one read, and a client
 * that pipelines, does not read its responses or exceeds its budget delays only itself. A connection with
 * more than `pipelinedRequests` in `queue`, or `HELD_REQUESTS` while over budget, is closed after those are
 * served.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ApiError } from "@perpgate/protocol/core";
import { type BearerToken, bearerTokenOf } from "../auth/session-token.js";
import type { AddressReader, AddressReaders } from "../limits/address-readers.js";
import {
  MAX_WAITING_CHARGES,
  overBudget,
  type Payer,
  type PossibleExit,
  takeReserve,
} from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { answerCost, COST, readCost } from "../limits/costs.js";
import type { RefusalCounts } from "../metrics/refusal-counts.js";
import type { ConnectionPlaces, PlaceHolder } from "./connection-places.js";
import type { LogProgress } from "./log-position.js";
import { refuseDirectly } from "./refuse-directly.js";
import type { UnreadConnections } from "./unread-connections.js";

/** A request and its response. */
export interface Exchange extends Payer {
  /** That of its `Authorization` header. */
  readonly token: BearerToken | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `performance.now()` when the first byte of the request was read. */
  readonly startedAtMs: number;
  /** Why it is refused once its headers are read, such as a gateway that lags; undefined: it is served. */
  refusal: ApiError | undefined;
  /** Whether the response is built for this request, in contrast to stored bytes. */
  isComputed: boolean;
  /** Of the body that a HEAD does not get. */
  unsentBytes: number;
}

export interface HttpConnectionOptions {
  readonly budgets: CostBudgets;
  readonly refusals: RefusalCounts;
  readonly progress: LogProgress | undefined;
  readonly bodyBytes: number;
  readonly pipelinedRequests: number;
  serve(exchange: Exchange): void;
  /** What the request may use the reserve of its address for; undefined: nothing. */
  exitOf(exchange: Exchange): PossibleExit | undefined | Promise<PossibleExit | undefined>;
  /** The budget key of the request; behind a trusted proxy not that of the peer. */
  keyOf(request: IncomingMessage): string;
}

/** What all connections of a server share. */
export interface SharedByConnections {
  readonly readers: AddressReaders;
  readonly places: ConnectionPlaces;
  readonly unread: Pick<UnreadConnections, "destroyWhenRead">;
  /** Whether the address keeps its idle connections while strangers look for a place. */
  protects(key: string): boolean;
}

/** Maximum of `queue` while the client is over budget. */
const HELD_REQUESTS = 4;
/** How long a peer has to read the last response before the socket is destroyed. */
const LINGER_MS = 500;

export class HttpConnection implements AddressReader, PlaceHolder {
  /** Being served now. */
  current: Exchange | undefined;
  /** Waits for the budget or for its turn of the event loop. */
  private waiting: Exchange | undefined;
  private readonly queue: Exchange[] = [];
  private isPaused = false;
  /** While no connection of the address is read. */
  private isYielding = false;
  private isClosing = false;
  private isClosed = false;
  /** Of `current`. */
  private isBodyAwaited = false;
  private isAttached = false;
  /** Bytes of an upgraded connection are charged by its frames. */
  private isUpgraded = false;
  /** That of the process, while `Error` keeps none. */
  private stackTraceLimit = 0;
  private cancelWait: (() => void) | undefined;
  /** While the next of `queue` waits for its turn of the event loop. */
  private nextTurn: NodeJS.Immediate | undefined;
  /** Until the first request is parsed, if its read was charged in advance. */
  private refundFirstRead: (() => void) | undefined;
  private bytesRead = 0;
  private bytesWritten = 0;
  /** Of the last request: most connections send one token again and again. */
  private token: BearerToken | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly key: string,
    private readonly options: HttpConnectionOptions,
    private readonly shared: SharedByConnections,
  ) {
    shared.places.add(this);
    socket.once("close", () => this.onClose());
  }

  /**
   * Must be called whenever Node's HTTP has added its listeners to the socket: those of this class that
   * repair what Node's do have to run after them.
   *
   * The socket is paused again whenever Node resumes it, after each response and for each body, while
   * `isPaused`.
   */
  attached(): void {
    this.isAttached = true;
    this.isUpgraded = false;
    this.socket.off("resume", this.onResume);
    this.socket.on("resume", this.onResume);
    this.socket.off("close", this.onAborted);
    this.socket.on("close", this.onAborted);
  }

  /** For a connection of an address that has many, or that had to wait. */
  chargeFirstRead(): void {
    this.refundFirstRead = this.options.budgets.chargeInAdvance(this.key, COST.firstRead);
  }

  get isProtected(): boolean {
    return this.shared.protects(this.key);
  }

  evict(): void {
    this.socket.resetAndDestroy();
  }

  private onRequest(): void {
    this.shared.places.onRequest(this);
    this.onFirstRequest();
  }

  private onFirstRequest(): void {
    this.refundFirstRead?.();
    this.refundFirstRead = undefined;
  }

  private readonly onResume = (): void => {
    if (this.isPaused || this.isYielding) this.socket.pause();
  };

  /** Not read until `goOnReading`, in addition to the pauses of its own. */
  stopReading(): void {
    if (this.isUpgraded || !this.isAttached) return;
    this.isYielding = true;
    this.socket.pause();
  }

  goOnReading(): void {
    if (!this.isYielding) return;
    this.isYielding = false;
    if (!this.isPaused && !this.isClosed) this.socket.resume();
  }

  receive(request: IncomingMessage, response: ServerResponse): void {
    this.onRequest();
    this.shared.readers.yieldIfUsed(this.key);
    if (this.isClosing) {
      this.options.budgets.charge(this.key, COST.droppedRequest);
      return;
    }
    const startedAtMs = performance.now();
    const key = this.options.keyOf(request);
    const payer = { key, account: undefined, overBudget: undefined, asExit: undefined };
    const answer = { refusal: undefined, isComputed: false, unsentBytes: 0 };
    const token = this.tokenOf(request.headers.authorization);
    const exchange = { request, response, token, startedAtMs, ...payer, ...answer };
    if (this.isIdle) {
      this.admit(exchange);
    } else if (this.queue.length < this.maxQueue) {
      this.queue.push(exchange);
      this.pause();
    } else {
      this.isClosing = true;
      this.pause();
    }
  }

  private tokenOf(authorization: string | undefined): BearerToken | undefined {
    if (this.token?.isSentAs(authorization) === true) return this.token;
    const token = bearerTokenOf(authorization);
    this.token = token?.isSentAs(authorization) === true ? token : undefined;
    return token;
  }

  private get isIdle(): boolean {
    return this.current === undefined && this.waiting === undefined;
  }

  private get maxQueue(): number {
    return this.cancelWait === undefined ? this.options.pipelinedRequests : HELD_REQUESTS;
  }

  private admit(exchange: Exchange): void {
    const { budgets } = this.options;
    const { key } = exchange;
    if (!budgets.mustWait(key)) {
      this.begin(exchange);
      return;
    }
    const exit = this.options.exitOf(exchange);
    if (!(exit instanceof Promise)) {
      this.admitInDebt(exchange, exit);
      return;
    }
    this.waiting = exchange;
    this.pause();
    void exit.then((found) => {
      if (!this.isClosed) this.admitInDebt(exchange, found);
    });
  }

  private admitInDebt(exchange: Exchange, exit: PossibleExit | undefined): void {
    const { budgets } = this.options;
    const { key } = exchange;
    if (exit !== undefined && takeReserve(budgets, exchange, exit, COST.request + COST.exit)) {
      this.begin(exchange);
      return;
    }
    if (budgets.waitingCount(key) >= MAX_WAITING_CHARGES) {
      budgets.charge(key, COST.request);
      refuseDirectly(exchange, overBudget(), this.options);
      this.closeAfterAnswer();
      return;
    }
    this.waiting = exchange;
    this.pause();
    this.shortenQueue();
    this.cancelWait = budgets.whenPaid(key, () => {
      this.cancelWait = undefined;
      this.begin(exchange);
    });
  }

  /** A client over budget does not get its whole pipeline served: the connection is closed before. */
  private shortenQueue(): void {
    if (this.queue.length <= HELD_REQUESTS) return;
    this.queue.length = HELD_REQUESTS;
    this.isClosing = true;
  }

  private begin(exchange: Exchange): void {
    this.waiting = undefined;
    this.current = exchange;
    if (this.queue.length === 0) this.resume();
    this.options.budgets.charge(exchange.key, COST.request);
    exchange.response.once("close", () => this.onAnswered(exchange));
    this.awaitBody(exchange.request);
    this.options.serve(exchange);
  }

  /** Until it is there the connection counts as one that has not sent a request. */
  private awaitBody(request: IncomingMessage): void {
    if (request.complete || !hasBody(request)) return;
    this.isBodyAwaited = true;
    this.shared.places.onBodyAwaited(this);
    request.once("end", () => {
      if (this.current?.request === request) this.onBodyEnded();
    });
  }

  private onBodyEnded(): void {
    if (!this.isBodyAwaited) return;
    this.isBodyAwaited = false;
    this.shared.places.onBodyEnded(this);
  }

  private onAnswered(exchange: Exchange): void {
    const { request, key, account, isComputed, unsentBytes } = exchange;
    const { budgets } = this.options;
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    let micros = this.chargeBytes(key, { isChunked, isComputed });
    if (unsentBytes > 0) {
      const unsent = answerCost(unsentBytes, isComputed);
      budgets.charge(key, unsent);
      micros += unsent;
    }
    if (account !== undefined) budgets.chargeAccount(account, micros + COST.request);
    this.current = undefined;
    if (this.isClosed) return;
    this.onBodyEnded();
    // An error may be sent before the body has arrived. Node discards the rest, which must be bounded.
    const isLong = !request.complete && this.isLongBody(request);
    if (isLong) this.closeAfterAnswer();
    else this.next();
  }

  private isLongBody({ headers }: IncomingMessage): boolean {
    const { "content-length": length, "transfer-encoding": encoding } = headers;
    return encoding !== undefined || Number(length) > this.options.bodyBytes;
  }

  private next(): void {
    const exchange = this.queue.shift();
    if (this.isEnded) this.closeAfterAnswer();
    else if (exchange !== undefined) this.admitInNextTurn(exchange);
    else if (this.isClosing) this.closeAfterAnswer();
    else {
      this.resume();
      this.shared.places.onIdle(this);
    }
  }

  /** The last response has closed the connection: what follows in the pipeline could not be answered. */
  private get isEnded(): boolean {
    return !this.socket.writable;
  }

  /** A pipeline of cheap requests, answered in one turn, would hold up all other clients. */
  private admitInNextTurn(exchange: Exchange): void {
    this.waiting = exchange;
    this.nextTurn = setImmediate(() => {
      this.waiting = undefined;
      if (this.isEnded) this.closeAfterAnswer();
      else this.admit(exchange);
    });
  }

  /** Charges all bytes since the last call; those of queued requests count for the current one. */
  private chargeBytes(key: string, { isChunked = false, isComputed = false } = {}): number {
    const { bytesRead, bytesWritten } = this.socket;
    const answered = answerCost(bytesWritten - this.bytesWritten, isComputed);
    const micros = readCost(bytesRead - this.bytesRead, isChunked) + answered;
    this.options.budgets.charge(key, micros);
    this.bytesRead = bytesRead;
    this.bytesWritten = bytesWritten;
    return micros;
  }

  /**
   * Whether the connection may be upgraded. If a request is unanswered, the connection is closed after
   * its response instead: response and upgrade would mix their bytes.
   */
  mayUpgrade(): boolean {
    this.onRequest();
    if (this.isIdle) {
      this.chargeBytes(this.key);
      this.isUpgraded = true;
      return !this.isClosing;
    }
    this.isClosing = true;
    this.queue.length = 0;
    return false;
  }

  /**
   * Bytes have arrived that are not a request. Returns whether an earlier request is unanswered: then its
   * response must come first, and the connection is closed after it.
   */
  closesBehindRequests(): boolean {
    // The bytes belong to a body that is not complete: that request cannot be served.
    if (this.queue.at(-1)?.request.complete === false) this.queue.pop();
    const last = this.queue.at(-1) ?? this.waiting ?? this.current;
    if (last?.request.complete !== true) return false;
    this.isClosing = true;
    this.pause();
    return true;
  }

  /** Stops reading; the peer has `LINGER_MS` to read what was written. */
  private closeAfterAnswer(): void {
    this.isClosing = true;
    this.queue.length = 0;
    this.pause();
    this.socket.end();
    setTimeout(() => this.shared.unread.destroyWhenRead(this.socket), LINGER_MS).unref();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
  }

  private resume(): void {
    if (!this.isPaused || this.isClosing) return;
    this.isPaused = false;
    if (!this.isYielding) this.socket.resume();
  }

  private onClose(): void {
    this.shared.places.delete(this);
    this.isClosed = true;
    this.isClosing = true;
    this.queue.length = 0;
    this.cancelWait?.();
    clearImmediate(this.nextTurn);
    if (this.socket.bytesRead === 0) this.onFirstRequest();
    // The bytes of a request that is being served are charged at its rate when its response closes.
    if (this.current === undefined && !this.isUpgraded) this.chargeBytes(this.key);
    if (!this.isAttached) return;
    this.stackTraceLimit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  }

  /**
   * Between `onClose` and this listener is Node's own, which makes an error for each request of the
   * connection that has no answer yet, up to a thousand of one read. Nobody sees them. Their stack traces
   * took most of the processor time of a flood of pipelined requests.
   */
  private readonly onAborted = (): void => {
    Error.stackTraceLimit = this.stackTraceLimit;
  };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}
