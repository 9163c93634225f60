/**
 * Frames over a stream socket between two processes.
 *
 * Sending: frames gather until the end of the turn of the event loop and go out in one write; while a
 * write is in progress the next one gathers. A link whose other side reads nothing for 2 s is over.
 *
 * Receiving: at most `FRAMES_PER_TURN` frames in a turn; the rest waits for the next turn, and while
 * much of it waits the socket is not read. So a core takes from its edges in turn, however much one of them sends. A core
 * also stops reading an edge while the edge leaves much unread, or has much in flight; an edge always reads,
 * or both could wait for each other.
 *
 * Silence: each side sends `ping` every `TICK_MS`. Silence and standstill are counted in own ticks, not
 * in time: a process that did not run counts one tick, and reads what has arrived before the next.
 */

import type { Socket } from "node:net";
import { FrameDecoder, FrameEncoder, FrameRefused } from "./codec.js";
import type { Frame, LinkEnd, Stamp } from "./frames.js";
import type { LinkTransport, Receiver } from "./transport.js";

const TICK_MS = 200;
const LOST_TICKS = 10;
const FRAMES_PER_TURN = 32;
/** What may be read and wait for its turn. */
const AHEAD_BYTES = 1 << 18;
/** Bytes of an incomplete frame that count as a sign of life: long frames take long to arrive. */
const LIFE_BYTES = 65_536;
/** Of one write, so that a slow reader's progress shows. */
const WRITE_BYTES = 1 << 20;
/** A core does not read an edge that has left so much unread. */
const HOLD_BYTES = 1 << 22;
/** For the other side to read the last frames. */
const END_MS = 1_000;
const MAX_REASON = 256;

export class SocketTransport implements LinkTransport {
  private readonly encoder = new FrameEncoder();
  private readonly decoder: FrameDecoder;
  private readonly other: LinkEnd;
  private readonly ticks: NodeJS.Timeout;
  /** Of the last frame that was sent, for pings. */
  private stamp: Stamp = { epoch: 0, position: 0 };
  /** Taken from the encoder and not yet given to the socket. */
  private taken: Buffer = Buffer.alloc(0);
  /** Bytes of the write in progress. */
  private writing = 0;
  private isTurnDue = false;
  private framesLeft = FRAMES_PER_TURN;
  private isPaused = false;
  private hasEnded = false;
  private silentTicks = 0;
  private standstillTicks = 0;
  private bytesSinceLife = 0;
  private state: "open" | "ending" | "over" = "open";
  private isReported = false;

  constructor(
    private readonly socket: Socket,
    private readonly side: LinkEnd,
    private readonly receiver: Receiver,
  ) {
    this.other = side === "core" ? "edge" : "core";
    this.decoder = new FrameDecoder(this.other);
    this.ticks = setInterval(() => this.tick(), TICK_MS);
    socket.on("data", (chunk: Buffer) => this.onData(chunk));
    socket.on("end", () => this.onEnd());
    socket.on("error", (error) => this.over(error));
    socket.on("close", () => this.over(undefined));
  }

  get waitingBytes(): number {
    return this.encoder.length + this.taken.length + this.writing;
  }

  send(frame: Frame): void {
    if (this.state !== "open") return;
    this.encoder.add(frame);
    this.stamp = { epoch: frame.epoch, position: frame.position };
    this.needTurn();
  }

  end(): void {
    if (this.state !== "open") return;
    this.state = "ending";
    clearInterval(this.ticks);
    // Read on and drop it: a socket that is closed before it is read cuts off what was sent last.
    this.socket.resume();
    setTimeout(() => this.over(undefined), END_MS).unref();
    this.needTurn();
  }

  /** Whether this side reads no more until the other has, or until it has answered. */
  private get isHeld(): boolean {
    if (this.receiver.isFull === true) return true;
    return this.side === "core" && this.waitingBytes > HOLD_BYTES;
  }

  private needTurn(): void {
    if (this.isTurnDue) return;
    this.isTurnDue = true;
    setImmediate(() => {
      this.isTurnDue = false;
      this.framesLeft = FRAMES_PER_TURN;
      this.read();
      this.write();
    });
  }

  private onData(chunk: Buffer): void {
    if (this.state !== "open") return;
    this.bytesSinceLife += chunk.length;
    if (this.bytesSinceLife >= LIFE_BYTES) this.showLife();
    this.decoder.push(chunk);
    this.read();
  }

  private onEnd(): void {
    this.hasEnded = true;
    if (this.state === "open") this.read();
    else this.over(undefined);
  }

  private read(): void {
    try {
      while (this.state === "open") {
        if (this.framesLeft === 0 || this.isHeld) {
          if (this.isHeld || this.decoder.left > AHEAD_BYTES) this.pause();
          return;
        }
        const frame = this.decoder.next();
        if (frame === undefined) break;
        this.framesLeft--;
        this.needTurn();
        this.showLife();
        if (frame.kind === "notice" && frame.name === "ping") continue;
        this.receiver.receive(frame, this.decoder.lastBytes);
      }
    } catch (error) {
      if (!(error instanceof FrameRefused)) throw error;
      this.lose(error);
    }
    if (this.state !== "open") return;
    if (this.hasEnded) {
      const isCut = this.decoder.left > 0;
      this.over(isCut ? new Error(`the ${this.other} has ended within a frame`) : undefined);
    } else if (this.isPaused) {
      this.isPaused = false;
      this.socket.resume();
    }
  }

  private pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  private write(): void {
    if (this.writing > 0 || this.state === "over") return;
    if (this.taken.length === 0) this.taken = this.encoder.take();
    if (this.taken.length === 0) {
      if (this.state === "ending") this.socket.end();
      return;
    }
    const part = this.taken.subarray(0, WRITE_BYTES);
    this.taken = this.taken.subarray(part.length);
    this.writing = part.length;
    this.socket.write(part, (error) => {
      this.writing = 0;
      this.standstillTicks = 0;
      // The socket's own `error` says what happened.
      if (error !== null && error !== undefined) return;
      if (this.taken.length > 0) this.write();
      else if (this.encoder.length > 0 || this.isPaused || this.state === "ending") this.needTurn();
    });
  }

  private tick(): void {
    if (this.writing === 0) {
      this.send({ kind: "notice", name: "ping", ...this.stamp, body: {} });
    } else if (++this.standstillTicks > LOST_TICKS) {
      this.over(new Error(`the ${this.other} has read nothing for ${LOST_TICKS * TICK_MS} ms`));
      return;
    }
    if (!this.isPaused && ++this.silentTicks > LOST_TICKS) {
      this.lose(new Error(`the ${this.other} has been silent for ${LOST_TICKS * TICK_MS} ms`));
    }
  }

  private showLife(): void {
    this.silentTicks = 0;
    this.bytesSinceLife = 0;
  }

  /** Ends the link for a fault of the other side, and says so to it. */
  private lose(problem: Error): void {
    const reason = problem.message.slice(0, MAX_REASON);
    this.send({ kind: "notice", name: "bye", ...this.stamp, body: { reason } });
    this.end();
    this.report(problem);
  }

  private over(problem: Error | undefined): void {
    if (this.state === "over") return;
    this.state = "over";
    clearInterval(this.ticks);
    this.socket.destroy();
    this.report(problem);
  }

  private report(problem: Error | undefined): void {
    if (this.isReported) return;
    this.isReported = true;
    this.receiver.ended(problem);
  }
}
