/** One connection of an attack: raw bytes out, counted answers in. */
import { connect, type Socket } from "node:net";
import { AnswerCounter } from "./answers.js";
import type { TallyCounter } from "./tally.js";

export interface LineEvents {
  /** Connected; writes before it wait for the connection. */
  readonly onConnect?: (line: Line) => void;
  /** All that was written has left this process, after a `write` that returned false. */
  readonly onDrain?: (line: Line) => void;
  /** The status of each HTTP answer; 101 once, after which frames are counted. */
  readonly onStatus?: (line: Line, status: string) => void;
  /** The server closed or reset it, or it was never established. */
  readonly onLost?: (line: Line) => void;
}

export interface LineOptions extends LineEvents {
  /** Never reads: what the server sends fills its buffers. */
  readonly isUnread?: boolean;
  /** Keeps the sending side open after the server has closed its own. */
  readonly isHalfOpen?: boolean;
}

export interface LineAddress {
  readonly port: number;
  readonly localAddress: string;
}

/** Told of each step, for the recording and the bounds of the network. */
export interface LineWatcher {
  onWrite(line: number, bytes: Buffer): void;
  onEnd(line: number): void;
  onGone(line: Line): void;
}

export class Line {
  isOpen = true;
  private readonly socket: Socket;
  private isConnected = false;
  private isFinishing = false;

  constructor(
    readonly number: number,
    { port, localAddress }: LineAddress,
    private readonly options: LineOptions,
    private readonly tally: TallyCounter,
    private readonly watcher: LineWatcher,
    readBuffer: Buffer,
  ) {
    const answers = new AnswerCounter(tally, (status) => options.onStatus?.(this, status));
    this.socket = connect({
      port,
      host: "127.0.0.1",
      localAddress,
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
    // A reset is what many attacks ask for; `close` follows and counts it.
    this.socket.on("error", () => undefined);
    this.socket.on("close", () => this.onClose());
  }

  /** False: wait for `onDrain`. */
  write(bytes: Buffer): boolean {
    if (!this.isOpen) return false;
    this.tally.bytesSent += bytes.length;
    this.tally.writes++;
    this.watcher.onWrite(this.number, bytes);
    return this.socket.write(bytes);
  }

  /** Sends a FIN after what was written. */
  end(): void {
    if (!this.isOpen) return;
    this.watcher.onEnd(this.number);
    this.socket.end();
  }

  /** Sends a FIN and reads to the end; resolves once the line is gone. */
  finish(): Promise<void> {
    const gone = new Promise<void>((resolve) => this.socket.once("close", () => resolve()));
    this.isFinishing = true;
    this.socket.resume();
    this.socket.end();
    return gone;
  }

  destroy(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.socket.destroy();
    this.watcher.onGone(this);
  }

  /** Closes with a reset in place of a FIN. */
  reset(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.socket.resetAndDestroy();
    this.watcher.onGone(this);
  }

  private onClose(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (!this.isConnected) this.tally.notConnected++;
    else if (!this.isFinishing) this.tally.closedByServer++;
    this.watcher.onGone(this);
    this.options.onLost?.(this);
  }
}
