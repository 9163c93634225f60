/** One connection of an attack: raw bytes out, counted answers in. */
import { connect, type Socket } from "node:net";
import type { GatewayAddress } from "../../harness/http.js";
import { FrameCounter, isOk } from "../../harness/wire.js";

/** What an attack sent and what came back. */
export interface Tally {
  bytesSent: number;
  bytesRead: number;
  writes: number;
  connections: number;
  /** Connections that were not established. */
  notConnected: number;
  closedByServer: number;
  /** By HTTP status; `ws ok`, `ws error`, `ws frame` and `ws close <code>` for socket frames. */
  readonly answers: Record<string, number>;
}

export function newTally(): Tally {
  const counts = { bytesSent: 0, bytesRead: 0, writes: 0, connections: 0 };
  return { ...counts, notConnected: 0, closedByServer: 0, answers: {} };
}

export interface LineOptions {
  /** The client address that the server sees, if not that of the network. */
  readonly localAddress?: string;
  /** Never reads: what the server sends fills its buffers. */
  readonly isUnread?: boolean;
  /** Keeps the sending side open after the server has closed its own. */
  readonly isHalfOpen?: boolean;
  readonly onConnect?: (line: AttackLine) => void;
  /** All that was written has left this process, after a `write` that returned false. */
  readonly onDrain?: (line: AttackLine) => void;
  /** The status of each HTTP answer; after a 101, frames are counted instead. */
  readonly onStatus?: (line: AttackLine, status: string) => void;
  /** The server closed or reset it, or it was never established. */
  readonly onLost?: (line: AttackLine) => void;
}

/** The network of a line, which is notified of what happens to it. */
interface LineOwner {
  readonly tally: Tally;
  readonly readBuffer: Buffer;
  onWrite(line: number, bytes: Buffer): void;
  onEnd(line: number): void;
  onGone(line: AttackLine): void;
}

export class AttackLine {
  isOpen = true;
  private readonly socket: Socket;
  private isConnected = false;
  private isFinishing = false;

  constructor(
    readonly number: number,
    address: GatewayAddress,
    private readonly options: LineOptions,
    private readonly network: LineOwner,
  ) {
    const { tally, readBuffer } = network;
    const answers = new AnswerCounter(tally.answers, (status) => options.onStatus?.(this, status));
    this.socket = connect({
      ...address,
      ...(options.localAddress === undefined ? {} : { localAddress: options.localAddress }),
      host: "127.0.0.1",
      noDelay: true,
      allowHalfOpen: options.isHalfOpen === true,
      onread: {
        buffer: readBuffer,
        callback: (bytes) => {
          tally.bytesRead += bytes;
          answers.push(readBuffer.subarray(0, bytes));
          return true;
        },
      },
    });
    if (options.isUnread === true) this.socket.pause();
    this.socket.on("connect", () => {
      this.isConnected = true;
      options.onConnect?.(this);
    });
    this.socket.on("drain", () => options.onDrain?.(this));
    // Many attacks provoke a reset; `close` follows and counts it.
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => this.onClose());
  }

  /** False: wait for `onDrain`. */
  write(bytes: Buffer): boolean {
    if (!this.isOpen) return false;
    this.network.tally.bytesSent += bytes.length;
    this.network.tally.writes++;
    this.network.onWrite(this.number, bytes);
    return this.socket.write(bytes);
  }

  /** Sends a FIN after what was written. */
  end(): void {
    if (!this.isOpen) return;
    this.network.onEnd(this.number);
    this.socket.end();
  }

  /** Sends a FIN and reads to the end; resolves once the line is closed. */
  finish(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.socket.once("close", () => resolve()));
    this.isFinishing = true;
    this.socket.resume();
    this.socket.end();
    return closed;
  }

  destroy(): void {
    this.close(() => this.socket.destroy());
  }

  /** Closes with a reset instead of a FIN. */
  reset(): void {
    this.close(() => this.socket.resetAndDestroy());
  }

  private close(how: () => void): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    how();
    this.network.onGone(this);
  }

  private onClose(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (!this.isConnected) this.network.tally.notConnected++;
    else if (!this.isFinishing) this.network.tally.closedByServer++;
    this.network.onGone(this);
    this.options.onLost?.(this);
  }
}

const STATUS_LINE = Buffer.from("HTTP/1.1 ");
const STATUS_END = STATUS_LINE.length + 3;
const HEADERS_END = Buffer.from("\r\n\r\n");
/** The beginning of `{t: "error", …}` in MessagePack. */
const ERROR = Buffer.from([0x82, 0xa1, 0x74, 0xa5, 0x65, 0x72, 0x72]);
const SWITCHED = "101";
/** First byte of a close frame: final fragment, opcode 8. */
const CLOSE_FRAME = 0x88;
const EMPTY = Buffer.alloc(0);

/** Counts status lines of HTTP and, after a switch of protocols, WebSocket frames. */
class AnswerCounter {
  /** A status line that the end of a chunk may have cut. */
  private rest: Buffer = EMPTY;
  private frames: FrameCounter | undefined;

  constructor(
    private readonly answers: Record<string, number>,
    private readonly onStatus: (status: string) => void,
  ) {}

  push(chunk: Buffer): void {
    if (this.frames === undefined) this.pushHttp(chunk);
    else this.frames.push(chunk, (bytes, at) => this.count(kindOf(bytes, at)));
  }

  private pushHttp(chunk: Buffer): void {
    const all = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    let from = 0;
    for (;;) {
      const at = all.indexOf(STATUS_LINE, from);
      if (at < 0) from = Math.max(from, all.length - STATUS_LINE.length + 1);
      if (at < 0 || at + STATUS_END > all.length) {
        this.rest = Buffer.from(all.subarray(at < 0 ? from : at));
        return;
      }
      const status = all.toString("latin1", at + STATUS_LINE.length, at + STATUS_END);
      this.count(status);
      from = at + STATUS_END;
      if (status === SWITCHED) {
        // The answer to an upgrade is short and arrives whole, possibly with the first frames.
        this.frames = new FrameCounter();
        const end = all.indexOf(HEADERS_END, from);
        if (end >= 0) this.push(all.subarray(end + HEADERS_END.length));
      }
      this.onStatus(status);
      if (status === SWITCHED) return;
    }
  }

  private count(kind: string): void {
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }
}

function kindOf(chunk: Buffer, at: number): string {
  if (chunk[at - 2] === CLOSE_FRAME && at + 2 <= chunk.length) {
    return `ws close ${chunk.readUInt16BE(at)}`;
  }
  if (isOk(chunk, at)) return "ws ok";
  return ERROR.equals(chunk.subarray(at, at + ERROR.length)) ? "ws error" : "ws frame";
}
