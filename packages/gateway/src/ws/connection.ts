/**
 * One client's socket: prepared frames go out, messages come in, and what waits for a slow reader is
 * bounded.
 *
 * Frames are written to the TCP socket directly, in the same turn as `ws` writes its own control
 * frames, so the two never cut into each other; nothing is written once the closing handshake has
 * begun. Whoever subscribes this connection to something hangs its way out into `subscriptions`, and
 * everything is let go of exactly once, when the socket closes for whatever reason.
 */

import type { Duplex } from "node:stream";
import type { ServerFrame } from "@perpgate/protocol";
import { WebSocket } from "ws";
import type { CostBudgets } from "../limits/cost-budget.js";
import { COST, frameCost } from "../limits/costs.js";
import { CLOSE, type CloseReason } from "./close-codes.js";
import type { SocketCall } from "./socket-call.js";
import type { SocketLimits } from "./socket-limits.js";
import { type WireFrame, wireFrame } from "./wire-frame.js";

/** How long a peer may take to read the reason why its socket is closed unread. */
const LINGER_MS = 500;
/** Frames that a peer may have had on their way when it was told to close. */
const MAX_LATE_FRAMES = 1_000;
/** Of a server's ping or pong. */
const CONTROL_HEADER_BYTES = 2;

/** Who a connection speaks for. */
export interface ConnectionSession {
  readonly token: string;
  readonly number: number;
  readonly account: number;
}

export interface Subscription {
  readonly isPrivate: boolean;
  end(): void;
}

export class Connection {
  session: ConnectionSession | undefined;
  /** By stream name. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Whether the other end has been heard of since the last look. */
  isAlive = true;
  /** Resolves when the socket is gone. */
  readonly closed: Promise<void>;
  private isClosing = false;
  private isHeld = false;
  private messages = 0;
  private waitingForRoom: (() => void)[] = [];
  private readonly drainWatchers = new Set<{ readonly callback: () => void }>();
  private readonly underWay = new Set<SocketCall>();
  /** What may wait before frames are left out. */
  private readonly roomBytes: number;
  /** Size of a frame that is on its way and alone past the cap. */
  private oversizeBytes = 0;
  private lateFrames = 0;
  private isPongDue = false;
  private pongsWaiting = 0;
  private owedPong: Buffer | undefined;
  private giveUpWaiting: (() => void) | undefined;

  constructor(
    readonly id: string,
    readonly address: string,
    private readonly socket: WebSocket,
    private readonly transport: Duplex,
    private readonly limits: SocketLimits,
    private readonly budgets: CostBudgets,
  ) {
    // Node says that a reader has caught up only if more than this much was waiting.
    this.roomBytes = Math.max(limits.roomBytes, transport.writableHighWaterMark);
    transport.on("drain", () => {
      this.oversizeBytes = 0;
      this.announceRoom();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.onClose();
        resolve();
      });
    });
  }

  /** Bytes written and not yet taken by the operating system. */
  get bufferedBytes(): number {
    return this.transport.writableLength;
  }

  /**
   * Whether little enough waits for frames that may be left out, or for a page of the past, and the
   * client's address can pay for them. A reader that is over budget is treated as a slow one.
   */
  get hasRoom(): boolean {
    if (this.transport.writableLength > this.roomBytes) return false;
    if (!this.budgets.isInDebt(this.address)) return true;
    this.announceRoomWhenPaid();
    return false;
  }

  /** Whether the client's address is over its budget. */
  get isOwing(): boolean {
    return this.budgets.isOwing(this.address);
  }

  charge(micros: number): void {
    this.budgets.charge(this.address, micros);
  }

  /** Stops reading what the client sends. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  get isOpen(): boolean {
    return !this.isClosing && this.socket.readyState === WebSocket.OPEN;
  }

  /** Counts a message; answers how many there were with it. */
  countMessage(): number {
    return ++this.messages;
  }

  /** Writes a frame that may not be left out; where it would pile up past the cap, closes instead. */
  send(frame: WireFrame): void {
    if (!this.isOpen) return;
    if (this.mayWait(frame.length)) this.write(frame);
    else this.close(CLOSE.tooSlow);
  }

  /** Writes a frame that may be left out, unless the reader is too far behind; answers whether. */
  offer(frame: WireFrame): boolean {
    if (!this.isOpen || !this.hasRoom) return false;
    this.write(frame);
    return true;
  }

  answer(frame: ServerFrame): void {
    // More than this one under way: those that become durable together are answered together.
    if (this.underWay.size > 1) this.hold();
    this.send(wireFrame(frame));
  }

  /** What is written until the present callbacks are through goes out in one system call. */
  hold(): void {
    if (this.isHeld || !this.isOpen) return;
    this.isHeld = true;
    this.transport.cork();
    process.nextTick(() => {
      this.isHeld = false;
      this.transport.uncork();
    });
  }

  /** An operation that this connection has asked for is answered later: `end` says when. */
  begin(call: SocketCall): void {
    this.underWay.add(call);
  }

  end(call: SocketCall): void {
    this.underWay.delete(call);
  }

  /** How many operations are not answered yet. */
  get unanswered(): number {
    return this.underWay.size;
  }

  /** Resolves once all that is under way now has been answered, whether or not anyone hears it. */
  async answered(): Promise<void> {
    await Promise.all(Array.from(this.underWay, (call) => call.answered()));
  }

  /** Resolves once there is room, at the latest when the socket closes. */
  room(): Promise<void> {
    if (this.hasRoom || !this.isOpen) return Promise.resolve();
    return new Promise((resolve) => this.waitingForRoom.push(resolve));
  }

  /** Calls back each time a reader that fell behind has taken everything; answers how to stop. */
  onDrain(callback: () => void): () => void {
    // A set of our own: a socket with many streams would have Node warn of a listener leak.
    const entry = { callback };
    this.drainWatchers.add(entry);
    return () => this.drainWatchers.delete(entry);
  }

  /** Asks whether anyone is still there. */
  ping(): void {
    if (!this.isOpen) return;
    if (!this.mayWait(CONTROL_HEADER_BYTES)) {
      this.close(CLOSE.tooSlow);
      return;
    }
    this.isPongDue = true;
    this.socket.ping();
  }

  /** A pong has come; answers whether it was asked for. */
  takePong(): boolean {
    const wasDue = this.isPongDue;
    this.isPongDue = false;
    return wasDue;
  }

  /**
   * Answers a ping. For a reader that is behind, one answer at a time waits, to the latest ping, as
   * RFC 6455 allows: whoever pings without reading must not fill the memory with pongs.
   */
  pong(data: Buffer): void {
    if (!this.isOpen) return;
    if (this.pongsWaiting > 0 && this.transport.writableNeedDrain) {
      this.owedPong = data;
      return;
    }
    if (!this.mayWait(CONTROL_HEADER_BYTES + data.length)) {
      this.close(CLOSE.tooSlow);
      return;
    }
    this.pongsWaiting++;
    this.socket.pong(data, false, () => this.onPongTaken());
  }

  /** Begins the closing handshake; nothing is sent any more. */
  close({ code, reason }: CloseReason): void {
    if (this.isClosing) return;
    this.isClosing = true;
    this.endAll();
    this.socket.close(code, reason);
  }

  /** Says why and closes without reading on: a client that sends too much goes on sending. */
  closeUnread(reason: CloseReason): void {
    if (this.isClosing) return;
    this.close(reason);
    this.socket.pause();
    setTimeout(() => this.destroy(), LINGER_MS).unref();
  }

  /** Counts a frame that came after the decision to close; too many cut the connection. */
  countLate(): void {
    this.charge(COST.controlFrame);
    this.lateFrames++;
    if (this.lateFrames === MAX_LATE_FRAMES) this.destroy();
  }

  /** Cuts the connection. */
  destroy(): void {
    this.socket.terminate();
  }

  private onPongTaken(): void {
    this.pongsWaiting--;
    const owed = this.owedPong;
    if (owed === undefined || this.pongsWaiting > 0) return;
    this.owedPong = undefined;
    this.pong(owed);
  }

  /**
   * Whether so many bytes may be written. Past the cap they may not, unless nothing waits: a frame
   * that is larger than the cap could never be sent otherwise. While such a one is on its way, what
   * waits behind it has the cap to itself.
   */
  private mayWait(bytes: number): boolean {
    const waiting = this.transport.writableLength;
    return waiting === 0 || waiting + bytes <= this.limits.maxBufferedBytes + this.oversizeBytes;
  }

  private write(frame: WireFrame): void {
    const isOversize = frame.length > this.limits.maxBufferedBytes;
    if (isOversize && this.transport.writableLength === 0) this.oversizeBytes = frame.length;
    this.charge(frameCost(frame.length));
    this.transport.write(frame);
  }

  private announceRoom(): void {
    this.onRoom();
    for (const { callback } of this.drainWatchers) callback();
  }

  private announceRoomWhenPaid(): void {
    this.giveUpWaiting ??= this.budgets.whenPaid(this.address, () => {
      this.giveUpWaiting = undefined;
      this.announceRoom();
    });
  }

  private onRoom(): void {
    for (const resolve of this.waitingForRoom.splice(0)) resolve();
  }

  private onClose(): void {
    this.isClosing = true;
    this.giveUpWaiting?.();
    this.endAll();
  }

  private endAll(): void {
    for (const subscription of this.subscriptions.values()) subscription.end();
    this.subscriptions.clear();
    this.onRoom();
  }
}
