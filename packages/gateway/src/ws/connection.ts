/**
 * The write side of one client's socket, with bounded buffers for a slow reader.
 *
 * Encoded frames go to the TCP socket (`transport`) directly. `ws` writes its control frames to the same
 * stream synchronously, so the bytes of two frames never mix. Nothing is written once the closing
 * handshake has begun. Every entry of `subscriptions` is ended exactly once: by an unsubscribe, or when
 * the socket closes.
 *
 * Buffers, in bytes of `transport.writableLength`:
 *   above `roomBytes`         droppable frames (`offer`) are skipped until the socket drains
 *   above `maxBufferedBytes`  the socket is closed, since other frames (`send`) must not be skipped
 */

import { Socket } from "node:net";
import { type Duplex, Writable } from "node:stream";
import type { ServerFrame } from "@perpgate/protocol";
import { WebSocket } from "ws";
import type { BearerToken } from "../auth/session-token.js";
import type { AddressReader } from "../limits/address-readers.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { COST, frameCost, readCost } from "../limits/costs.js";
import type { SocketCounts } from "../metrics/socket-counts.js";
import { CLOSE, type CloseReason } from "./close-codes.js";
import type { PieceReader } from "./read-in-pieces.js";
import type { SocketLimits } from "./socket-limits.js";
import { type WireFrame, wireFrame } from "./wire-frame.js";

/** A call of the socket that is answered later. */
interface Unanswered {
  answered(): Promise<void>;
}

/** How long the peer of `closeUnread` has to read the close frame. */
const LINGER_MS = 500;
/** Frames that a peer may have sent before it read the close frame. */
const MAX_LATE_FRAMES = 1_000;
/** Of a server's ping or pong. */
const CONTROL_HEADER_BYTES = 2;
/** Of a client's frame, at most. */
const FRAME_HEADER_BYTES = 14;

/** The session that a connection is bound to. */
export interface ConnectionSession {
  readonly token: BearerToken;
  readonly number: number;
  readonly account: number;
}

interface Subscription {
  readonly isPrivate: boolean;
  end(): void;
}

export class ClientSocket implements AddressReader, PieceReader {
  session: ConnectionSession | undefined;
  /** By stream name. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Whether a frame has arrived since the last ping. */
  isAlive = true;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  /** After `closeWhenAnswered`: new messages are refused. */
  isStopping = false;
  private isClosing = false;
  private isCorked = false;
  private messages = 0;
  private waitingForRoom: (() => void)[] = [];
  private readonly drainWatchers = new Set<{ readonly callback: () => void }>();
  private readonly inFlight: Unanswered[] = [];
  private readonly roomBytes: number;
  /** Length of a buffered frame that is larger than `maxBufferedBytes`; 0 if there is none. */
  private oversizeBytes = 0;
  private lateFrames = 0;
  private isPongExpected = false;
  private bufferedPongs = 0;
  /** The latest ping that waits for `bufferedPongs` to reach 0. */
  private deferredPing: Buffer | undefined;
  private cancelWait: (() => void) | undefined;
  private isPaused = false;
  /** While no socket of the address is read. */
  private isYielding = false;
  /** While a part of the last read waits for its turn of the event loop. */
  private hasRest = false;
  /** After `closeUnread`. */
  private isClosedUnread = false;
  /** What `ws` parses frames with; it has no public name. */
  private readonly parser: unknown;
  /** Bytes received that are in no message, ping or pong so far. */
  private unexplainedBytes = 0;

  constructor(
    readonly id: string,
    readonly address: string,
    private readonly socket: WebSocket,
    private readonly transport: Duplex,
    private readonly limits: SocketLimits,
    private readonly budgets: CostBudgets,
    readonly counts: SocketCounts,
  ) {
    this.parser = Reflect.get(socket, "_receiver");
    // Node emits `drain` only after more than writableHighWaterMark bytes were buffered.
    this.roomBytes = Math.max(limits.roomBytes, transport.writableHighWaterMark);
    transport.on("drain", () => {
      this.oversizeBytes = 0;
      this.announceRoom();
    });
    // Before the listener of `ws`, which would parse what a paused socket has buffered: a read of each
    // socket that closes in this turn, for messages that nobody handles any more.
    transport.prependListener("close", () => {
      transport.removeAllListeners("data");
      while (transport.read() !== null);
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.onClose();
        resolve();
      });
    });
  }

  /** A message with this payload has arrived, in one frame or in fragments. */
  onMessage(payloadBytes: number): void {
    this.unexplainedBytes -= payloadBytes + (1 + this.limits.messageFragments) * FRAME_HEADER_BYTES;
  }

  /** A ping or pong has arrived, which has no fragments, possibly between those of a message. */
  onControlFrame(payloadBytes: number): void {
    this.unexplainedBytes -= payloadBytes + FRAME_HEADER_BYTES;
  }

  /**
   * Bytes have arrived and `ws` has emitted what they complete. Closes a socket that sends more than the
   * longest message without completing one: `ws` neither counts nor bounds fragments without a payload.
   */
  onBytes(bytes: number): void {
    this.unexplainedBytes = Math.max(0, this.unexplainedBytes + bytes);
    const { messageBytes, messageFragments } = this.limits;
    if (this.unexplainedBytes <= messageBytes + (1 + messageFragments) * FRAME_HEADER_BYTES) return;
    this.charge(readCost(this.unexplainedBytes, true));
    this.unexplainedBytes = 0;
    this.closeUnread(CLOSE.rateLimited);
  }

  /** After `closeUnread`, a close frame or malformed bytes: `ws` would fail on anything more. */
  get isUnread(): boolean {
    return this.isClosedUnread || (this.parser instanceof Writable && !this.parser.writable);
  }

  /** Bytes written and not yet accepted by the operating system. */
  get bufferedBytes(): number {
    return this.transport.writableLength;
  }

  /** Whether at most `roomBytes` are buffered, whatever the budget. */
  get hasBufferRoom(): boolean {
    return this.transport.writableLength <= this.roomBytes;
  }

  /**
   * Whether droppable frames and pages of the history may be written: at most `roomBytes` are buffered,
   * and the client's address is not over its budget. A client over budget is treated as a slow reader.
   */
  get hasRoom(): boolean {
    if (!this.hasBufferRoom) return false;
    if (!this.budgets.isInDebt(this.address)) return true;
    this.announceRoomWhenPaid();
    return false;
  }

  /** The connection is bound to a live session: its address gets a place for others. */
  noteSession(): void {
    if (this.session !== undefined) this.budgets.noteSession(this.address);
  }

  /** Whether a new message must wait for the budget of the client's address. */
  get mustWait(): boolean {
    return this.budgets.mustWait(this.address);
  }

  /** Whether the client's address has used its part of this turn of the event loop. */
  get isTurnUsed(): boolean {
    return this.budgets.isTurnUsed(this.address);
  }

  charge(micros: number): void {
    this.budgets.charge(this.address, micros);
  }

  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.resumeIfFree();
  }

  stopReading(): void {
    this.isYielding = true;
    this.socket.pause();
  }

  goOnReading(): void {
    this.isYielding = false;
    this.resumeIfFree();
  }

  onRestWaits(): void {
    this.hasRest = true;
    this.socket.pause();
  }

  onRestRead(): void {
    this.hasRest = false;
    this.resumeIfFree();
  }

  private resumeIfFree(): void {
    if (!this.isPaused && !this.isYielding && !this.hasRest) this.socket.resume();
  }

  get isOpen(): boolean {
    return !this.isClosing && this.socket.readyState === WebSocket.OPEN;
  }

  /** Counts a message; returns the count including it. */
  countMessage(): number {
    return ++this.messages;
  }

  /** Writes a frame that must not be skipped; closes the socket if it would exceed the buffer cap. */
  send(frame: WireFrame): void {
    if (!this.isOpen) return;
    if (this.fitsBuffer(frame.length)) this.write(frame);
    else this.close(CLOSE.tooSlow);
  }

  /** Writes a droppable frame if there is room; returns whether it did. */
  offer(frame: WireFrame): boolean {
    if (!this.isOpen) return false;
    if (!this.hasRoom) {
      this.counts.skippedFrames++;
      return false;
    }
    this.write(frame);
    return true;
  }

  answer(frame: ServerFrame): void {
    // Orders of one batch are acknowledged in one turn: their frames share one system call.
    if (this.inFlight.length > 1) this.corkUntilNextTick();
    this.send(wireFrame(frame));
  }

  /** Writes everything up to the next tick in one system call. */
  corkUntilNextTick(): void {
    if (this.isCorked || !this.isOpen) return;
    this.isCorked = true;
    this.transport.cork();
    process.nextTick(() => {
      this.isCorked = false;
      this.transport.uncork();
    });
  }

  /** Registers a call that is answered later; `end` removes it. */
  begin(call: Unanswered): void {
    this.inFlight.push(call);
  }

  end(call: Unanswered): void {
    const at = this.inFlight.indexOf(call);
    if (at !== -1) this.inFlight.splice(at, 1);
  }

  /** Calls in flight. */
  get unanswered(): number {
    return this.inFlight.length;
  }

  /** Resolves once every call that is in flight now is answered, even if the socket is closed by then. */
  async answered(): Promise<void> {
    await Promise.all(this.inFlight.map((call) => call.answered()));
  }

  /** Resolves once there is room or the socket closes. */
  room(): Promise<void> {
    if (this.hasRoom || !this.isOpen) return Promise.resolve();
    return new Promise((resolve) => this.waitingForRoom.push(resolve));
  }

  /** Calls back each time the buffer of a slow reader drains; returns a function that unsubscribes. */
  onDrain(callback: () => void): () => void {
    // Not a listener per stream: Node would warn of a listener leak.
    const entry = { callback };
    this.drainWatchers.add(entry);
    return () => this.drainWatchers.delete(entry);
  }

  ping(): void {
    if (!this.isOpen) return;
    if (!this.fitsBuffer(CONTROL_HEADER_BYTES)) {
      this.close(CLOSE.tooSlow);
      return;
    }
    this.isPongExpected = true;
    this.socket.ping();
  }

  /** Returns whether the pong that has arrived answers a ping of this side. */
  takePong(): boolean {
    const wasExpected = this.isPongExpected;
    this.isPongExpected = false;
    return wasExpected;
  }

  /**
   * Answers a ping. While a pong is buffered and the socket needs to drain, only the latest ping is kept
   * and answered later, as RFC 6455 allows: a peer that pings without reading must not fill the memory.
   */
  pong(data: Buffer): void {
    if (!this.isOpen) return;
    if (this.bufferedPongs > 0 && this.transport.writableNeedDrain) {
      this.deferredPing = data;
      return;
    }
    if (!this.fitsBuffer(CONTROL_HEADER_BYTES + data.length)) {
      this.close(CLOSE.tooSlow);
      return;
    }
    this.bufferedPongs++;
    this.socket.pong(data, false, () => this.onPongWritten());
  }

  /** Begins the closing handshake; nothing is written after it. */
  close({ code, reason }: CloseReason): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.endAll();
    // Set before the timer of `ws`, which closes without a reset: the kernel would keep what is unsent.
    if (code === CLOSE.tooSlow.code) this.destroyLater(this.limits.closeTimeoutMs);
    this.socket.close(code, reason);
  }

  endSubscriptions(): void {
    for (const subscription of this.subscriptions.values()) subscription.end();
    this.subscriptions.clear();
  }

  /** Closes once every call in flight is answered. */
  closeWhenAnswered(reason: CloseReason): void {
    this.isStopping = true;
    if (this.inFlight.length === 0) this.close(reason);
    else void this.answered().then(() => this.close(reason));
  }

  /** Closes without reading any further: a client that sends too much may not stop. */
  closeUnread(reason: CloseReason): void {
    if (this.isClosing) return;
    this.isClosedUnread = true;
    this.close(reason);
    this.pause();
    this.destroyLater(LINGER_MS);
  }

  private destroyLater(ms: number): void {
    const timer = setTimeout(() => this.destroy(), ms).unref();
    this.socket.once("close", () => clearTimeout(timer));
  }

  /** Counts a frame that arrived after `close`; destroys the socket after `MAX_LATE_FRAMES`. */
  countLate(): void {
    this.charge(COST.controlFrame);
    this.lateFrames++;
    if (this.lateFrames === MAX_LATE_FRAMES) this.destroy();
  }

  /** With a reset, so that the kernel does not keep what a peer does not read. */
  destroy(): void {
    if (this.transport instanceof Socket) this.transport.resetAndDestroy();
    else this.socket.terminate();
  }

  private onPongWritten(): void {
    this.bufferedPongs--;
    const ping = this.deferredPing;
    if (ping === undefined || this.bufferedPongs > 0) return;
    this.deferredPing = undefined;
    this.pong(ping);
  }

  /**
   * Whether `bytes` fit into the buffer. An empty buffer takes a frame of any length, since a frame
   * above the cap could never be sent otherwise; while it is buffered, the cap applies to what follows.
   */
  private fitsBuffer(bytes: number): boolean {
    const buffered = this.transport.writableLength;
    return buffered === 0 || buffered + bytes <= this.limits.maxBufferedBytes + this.oversizeBytes;
  }

  private write(frame: WireFrame): void {
    const isOversize = frame.length > this.limits.maxBufferedBytes;
    if (isOversize && this.transport.writableLength === 0) this.oversizeBytes = frame.length;
    this.charge(frameCost(frame.length));
    this.counts.sentFrames++;
    this.counts.sentBytes += frame.length;
    this.transport.write(frame);
  }

  private announceRoom(): void {
    this.onRoom();
    for (const { callback } of this.drainWatchers) callback();
  }

  private announceRoomWhenPaid(): void {
    this.cancelWait ??= this.budgets.whenPaid(this.address, () => {
      this.cancelWait = undefined;
      this.announceRoom();
    });
  }

  private onRoom(): void {
    for (const resolve of this.waitingForRoom.splice(0)) resolve();
  }

  private onClose(): void {
    this.isClosing = true;
    this.cancelWait?.();
    this.endAll();
  }

  private endAll(): void {
    this.endSubscriptions();
    this.onRoom();
  }
}
