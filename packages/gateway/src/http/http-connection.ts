/**
 * One HTTP connection: its requests are served one at a time, and what they cost is charged.
 *
 * Node parses everything that one read returns, up to 64 KiB, and raises all requests in it at once.
 * They wait here. The next one begins when the answer before it has left for the client and the
 * client's address owes nothing; meanwhile the socket is not read. So a connection holds at most what
 * one read brought, and a client that pipelines, does not read its answers, or is over its budget
 * waits for itself. One that has more than `pipelinedRequests` waiting, or `HELD_REQUESTS` while it is
 * over budget, is closed after those are answered.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { MAX_WAITING, type Payer } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { answerCost, COST, readCost } from "../limits/costs.js";
import { overBudget } from "../limits/over-budget.js";
import { firstByteAgoMs } from "./first-byte.js";
import { hasTooManyHeaders } from "./header-count.js";
import { refuseDirectly } from "./refuse-directly.js";

/** A request and its response, from the moment Node raised it. */
export interface Exchange extends Payer {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** When the first byte of the request was read, by `performance.now()`. */
  readonly startedAtMs: number;
  /** Whether the answer is built for this request, and not bytes that are stored. */
  isComputed: boolean;
}

/** What a connection needs of the server that accepted it. */
export interface ConnectionOptions {
  readonly budgets: CostBudgets;
  readonly bodyBytes: number;
  readonly pipelinedRequests: number;
  serve(exchange: Exchange): void;
  /** Whether a request may draw on the reserve of its address. */
  mayUseReserve(request: IncomingMessage): boolean;
  /** The budget that a request is charged to; behind a trusted proxy not that of the peer. */
  keyOf(request: IncomingMessage): string;
}

/** Requests that may wait on a connection whose client is over budget. */
const HELD_REQUESTS = 4;
/** How long a peer may take to read its last answer before the connection is cut. */
const LINGER_MS = 500;

export class HttpConnection {
  /** The one that is served now. */
  current: Exchange | undefined;
  private readonly queue: Exchange[] = [];
  private isPaused = false;
  private isClosing = false;
  private isGone = false;
  private giveUpWaiting: (() => void) | undefined;
  private bytesRead = 0;
  private bytesWritten = 0;

  constructor(
    private readonly socket: Socket,
    private readonly key: string,
    private readonly options: ConnectionOptions,
  ) {
    socket.once("close", () => this.onClose());
  }

  /**
   * Node resumes the socket after each answer and for each body. While requests wait, it is paused
   * again at once. To be called after Node has taken the socket: Node's own listener starts to read,
   * so this one must run behind it.
   */
  keepPaused(): void {
    this.socket.off("resume", this.onResume);
    this.socket.on("resume", this.onResume);
  }

  private readonly onResume = (): void => {
    if (this.isPaused) this.socket.pause();
  };

  receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.isClosing) {
      this.options.budgets.charge(this.key, COST.droppedRequest);
      return;
    }
    const startedAtMs = performance.now() - firstByteAgoMs(request);
    // Of too many headers not all are seen, so none of them says whose request it is.
    const key = hasTooManyHeaders(request) ? this.key : this.options.keyOf(request);
    const unknown = { account: undefined, overBudget: undefined, isComputed: false };
    const exchange = { request, response, startedAtMs, key, ...unknown };
    if (this.current === undefined && this.giveUpWaiting === undefined) {
      this.admit(exchange);
    } else if (this.queue.length < this.room) {
      this.queue.push(exchange);
      this.pause();
    } else {
      this.isClosing = true;
      this.pause();
    }
  }

  private get room(): number {
    return this.giveUpWaiting === undefined ? this.options.pipelinedRequests : HELD_REQUESTS;
  }

  private admit(exchange: Exchange): void {
    const { budgets } = this.options;
    const { key } = exchange;
    if (!budgets.isOwing(key)) {
      this.begin(exchange);
      return;
    }
    if (this.options.mayUseReserve(exchange.request) && budgets.takeReserve(key, COST.request)) {
      exchange.overBudget = "address";
      this.begin(exchange);
      return;
    }
    if (budgets.waitingCount(key) >= MAX_WAITING) {
      budgets.charge(key, COST.request);
      refuseDirectly(exchange, overBudget());
      this.closeAfterAnswer();
      return;
    }
    this.pause();
    this.shortenQueue();
    this.giveUpWaiting = budgets.whenPaid(key, () => {
      this.giveUpWaiting = undefined;
      this.begin(exchange);
    });
  }

  /** Over budget, a long pipeline is not served to its end: the connection is closed before that. */
  private shortenQueue(): void {
    if (this.queue.length <= HELD_REQUESTS) return;
    this.queue.length = HELD_REQUESTS;
    this.isClosing = true;
  }

  private begin(exchange: Exchange): void {
    this.current = exchange;
    if (this.queue.length === 0) this.resume();
    this.options.budgets.charge(exchange.key, COST.request);
    exchange.response.once("close", () => this.onAnswered(exchange));
    this.options.serve(exchange);
  }

  private onAnswered({ request, key, account, isComputed }: Exchange): void {
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    const micros = this.chargeBytes(key, { isChunked, isComputed });
    if (account !== undefined) this.options.budgets.chargeAccount(account, micros + COST.request);
    this.current = undefined;
    if (this.isGone) return;
    // A refusal may come before the body has. Node discards the rest, which has to be bounded.
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
    if (exchange !== undefined) this.admit(exchange);
    else if (this.isClosing) this.closeAfterAnswer();
    else this.resume();
  }

  /** The bytes of the requests that wait are charged with the first of them. */
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
   * Whether the connection may leave HTTP now. One that asks to while a request is unanswered is
   * closed after that answer: the two would write into each other.
   */
  mayUpgrade(): boolean {
    if (this.current === undefined && this.giveUpWaiting === undefined) return !this.isClosing;
    this.isClosing = true;
    this.queue.length = 0;
    return false;
  }

  /** Nothing more is read; the peer has a moment to read what was written. */
  private closeAfterAnswer(): void {
    this.isClosing = true;
    this.queue.length = 0;
    this.pause();
    this.socket.end();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }

  private pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
  }

  private resume(): void {
    if (!this.isPaused || this.isClosing) return;
    this.isPaused = false;
    this.socket.resume();
  }

  private onClose(): void {
    this.isGone = true;
    this.isClosing = true;
    this.queue.length = 0;
    this.giveUpWaiting?.();
    this.chargeBytes(this.key);
  }
}
