/**
 * One connection while it is the front's: plain requests in, their answers out, one at a time.
 *
 *   fresh ─ plain request ─► busy ─ answer ─► idle ─ plain request ─► busy ─ …
 *     └──── anything else ─────────► Node, for good ◄────┘
 *
 * While an answer is under way, or the client does not read those it has, nothing more is read than
 * the socket itself holds. Whatever was read and is not a plain request goes to Node byte for byte,
 * and only when every answer before it has been written.
 */

import type { Socket } from "node:net";
import { noteFirstByte } from "../first-byte.js";
import { answerBook } from "../lane/book-lane.js";
import type { LaneOptions } from "../lane/exchange.js";
import { answerOrder } from "../lane/order-lane.js";
import type { Wire } from "../lane/wire.js";
import { answerHead, type KeepAlive } from "./answer-head.js";
import type { PlainRequest } from "./plain-request.js";

/** What a connection needs of the server that it belongs to. */
export interface FrontHouse {
  readonly options: LaneOptions;
  /** Shared: what it holds is used up before the next connection asks. */
  readonly request: PlainRequest;
  readonly keepAlive: KeepAlive;
  /** Whether the end has begun: an answer is then the last on its connection. */
  readonly isClosing: boolean;
  /** The connection is no longer the front's. */
  forget(connection: FrontConnection): void;
  /** Node takes the socket as if it were new. */
  toNode(socket: Socket): void;
  /** Answers on the bare socket, as Node does where it cannot make a request of what came. */
  refuse(socket: Socket, code: "ERR_HTTP_REQUEST_TIMEOUT" | "HPE_INVALID_EOF_STATE"): void;
}

/** Node keeps an idle connection so much longer than it tells the client. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const MANY_PARTS = 64;

export class FrontConnection implements Wire {
  /** Of what is held, or else of the request under way; an exchange asks as it begins. */
  startedAtMs: number;
  path = "";
  authorization: string | undefined;
  signature: string | undefined;
  offeredId: string | undefined;
  /** A request that a proxy passed on is not plain. */
  readonly isForwarded = false;

  private isBusy = false;
  private isAdvancing = false;
  private isPaused = false;
  /** Whether the client has said that it sends nothing more. */
  private isEnded = false;
  /** Whether nothing of the connection is the front's any more. */
  private isOver = false;
  private hasAnswered = false;
  /** When the connection began, or its last answer was written. */
  private idleSinceMs: number;
  /** Read, and not looked at. */
  private held: Buffer | undefined;
  /** Of a plain request whose body is not whole. */
  private readonly parts: Buffer[] = [];
  private missingBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly house: FrontHouse,
  ) {
    this.startedAtMs = performance.now();
    this.idleSinceMs = this.startedAtMs;
    socket.setTimeout(house.options.limits.idleTimeoutMs);
    socket.on("data", this.onData);
    socket.on("end", this.onEnd);
    socket.on("drain", this.onDrain);
    socket.on("timeout", this.onTimeout);
    socket.on("error", this.onError);
    socket.on("close", this.onClose);
  }

  get address(): string {
    return this.socket.remoteAddress ?? "";
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  send(status: number, headers: readonly string[], text: string): void {
    const { keepAlive, isClosing } = this.house;
    const isLast = isClosing || (this.isEnded && this.held === undefined);
    const bytes = Buffer.byteLength(text);
    const head = answerHead(status, headers, bytes, isLast ? keepAlive.ends : keepAlive.stays);
    // As many bytes as characters: all of them are ASCII, and need no encoding.
    this.socket.write(head + text, bytes === text.length ? "latin1" : "utf8");
    this.isBusy = false;
    this.hasAnswered = true;
    this.idleSinceMs = performance.now();
    if (isLast) this.finish();
    else this.advance();
  }

  /** The end begins: what is under way is answered; whoever is not done with a request is Node's. */
  leave(): void {
    if (!this.isBusy && !this.isOver && !this.isIdle) this.handOver();
  }

  closeIdle(): void {
    if (!this.isBusy && !this.isOver && this.isIdle) this.finish();
  }

  /** Whether it has had its answer and nothing else was read. */
  private get isIdle(): boolean {
    return this.hasAnswered && this.held === undefined && this.parts.length === 0;
  }

  /** Cuts the connection, whatever it is at. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Closes a connection that has kept the server waiting for longer than Node would let it. */
  checkTime(nowMs: number): void {
    if (this.isBusy || this.isOver) return;
    const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.house.options.limits;
    if (this.missingBytes > 0) {
      if (isOverdue(this.startedAtMs, requestTimeoutMs, nowMs)) this.refuseTimeout();
    } else if (!this.hasAnswered) {
      if (isOverdue(this.idleSinceMs, headersTimeoutMs, nowMs)) this.refuseTimeout();
    } else if (keepAliveTimeoutMs > 0 && this.socket.writableLength === 0) {
      const idleMs = keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS;
      if (isOverdue(this.idleSinceMs, idleMs, nowMs)) this.destroy();
    }
  }

  private readonly onData = (chunk: Buffer): void => {
    if (this.isOver) return;
    if (this.missingBytes > 0) {
      this.parts.push(chunk);
      this.missingBytes -= chunk.length;
      if (this.missingBytes > 0) {
        this.joinParts();
        return;
      }
      this.held = Buffer.concat(this.parts);
      this.parts.length = 0;
      this.missingBytes = 0;
    } else if (this.held === undefined) {
      this.startedAtMs = performance.now();
      this.held = chunk;
    } else {
      this.held = Buffer.concat([this.held, chunk]);
    }
    this.advance();
  };

  private readonly onEnd = (): void => {
    this.isEnded = true;
    this.advance();
  };

  private readonly onDrain = (): void => this.advance();

  private readonly onTimeout = (): void => this.destroy();

  /** A reset is one of the ways a client may leave; the close that follows tells. */
  private readonly onError = (): void => undefined;

  private readonly onClose = (): void => {
    this.isOver = true;
    this.house.forget(this);
  };

  /** Takes up what is held, as far as that is possible now. */
  private advance(): void {
    // An answer that is there at once comes back here from within the loop.
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    while (this.held !== undefined && this.isReady()) this.take(this.held);
    this.isAdvancing = false;
    this.settle();
  }

  private isReady(): boolean {
    return !this.isBusy && !this.isOver && !this.socket.writableNeedDrain;
  }

  private take(bytes: Buffer): void {
    const { request } = this.house;
    const recognised = request.recognise(bytes);
    if (recognised === "other") {
      this.handOver();
      return;
    }
    this.held = undefined;
    if (recognised === "partial") {
      this.parts.push(bytes);
      this.missingBytes = request.end - bytes.length;
      return;
    }
    if (request.end < bytes.length) this.held = bytes.subarray(request.end);
    this.serve(request, bytes);
  }

  private serve(request: PlainRequest, bytes: Buffer): void {
    const { options } = this.house;
    const { book } = request;
    this.isBusy = true;
    this.authorization = request.authorization;
    this.signature = request.signature;
    this.offeredId = request.offeredId;
    if (book === undefined) {
      this.path = "/v1/orders";
      answerOrder(this, options, bytes.subarray(request.bodyStart, request.end));
    } else {
      this.path = `/v1/markets/${book.symbol}/book`;
      answerBook(this, options, book);
    }
  }

  /** Nothing can be taken up now: reads on, waits, or ends. */
  private settle(): void {
    if (this.isOver) return;
    const { isBusy, socket } = this;
    if (isBusy || socket.writableNeedDrain) {
      const isEnough = this.held !== undefined || !isBusy;
      if (isEnough && !this.isPaused) {
        this.isPaused = true;
        socket.pause();
      }
    } else if (this.isEnded) {
      this.endWithClient();
    } else if (this.isPaused) {
      this.isPaused = false;
      socket.resume();
    }
  }

  /** A body that comes byte by byte costs its bytes, not a buffer for each of them. */
  private joinParts(): void {
    if (this.parts.length < MANY_PARTS) return;
    this.parts.splice(0, MANY_PARTS, Buffer.concat(this.parts));
  }

  private endWithClient(): void {
    if (this.missingBytes === 0) {
      this.finish();
      return;
    }
    this.isOver = true;
    this.house.refuse(this.socket, "HPE_INVALID_EOF_STATE");
  }

  private refuseTimeout(): void {
    this.isOver = true;
    this.house.refuse(this.socket, "ERR_HTTP_REQUEST_TIMEOUT");
  }

  /** Closes once what was written has left. */
  private finish(): void {
    this.isOver = true;
    this.socket.destroySoon();
  }

  private handOver(): void {
    const { socket, house, isEnded } = this;
    const bytes = this.held ?? Buffer.concat(this.parts);
    this.isOver = true;
    house.options.metrics.onHandedOver();
    house.forget(this);
    this.removeListeners();
    if (bytes.length > 0) noteFirstByte(socket, this.startedAtMs);
    house.toNode(socket);
    if (isEnded) {
      // Nothing can be put back into a stream that has ended: Node is told as the stream told us.
      if (bytes.length > 0) socket.emit("data", bytes);
      socket.emit("end");
      return;
    }
    if (bytes.length > 0) socket.unshift(bytes);
    // What the socket itself holds follows in this turn, before anything new is read.
    if (this.isPaused) socket.resume();
  }

  private removeListeners(): void {
    const { socket } = this;
    socket.off("data", this.onData);
    socket.off("end", this.onEnd);
    socket.off("drain", this.onDrain);
    socket.off("timeout", this.onTimeout);
    socket.off("error", this.onError);
    socket.off("close", this.onClose);
  }
}

/** A time-out of 0 is none, as it is for Node. */
function isOverdue(sinceMs: number, timeoutMs: number, nowMs: number): boolean {
  return timeoutMs > 0 && nowMs - sinceMs >= timeoutMs;
}
