/**
 * One keep-alive connection that sends a prepared request and reads one answer, by hand: a full
 * HTTP client would take the cores that the server under test needs.
 */
import { once } from "node:events";
import type { Socket } from "node:net";
import { connectLean } from "./lean-socket.js";

const HEADER_END = Buffer.from("\r\n\r\n");
const NOTHING = Buffer.alloc(0);

/** `body` is only good during the call. */
export type OnAnswer = (status: number, body: Buffer) => void;

/** Once, when the other side has closed or reset it, or it was never established. */
export type OnLost = (reason: Error, isAnswerOwed: boolean) => void;

export class Connection {
  private readonly socket: Socket;
  /** Of an answer that came in pieces. */
  private received: Buffer = NOTHING;
  private answered: OnAnswer | null = null;
  /** By this side. */
  private isClosed = false;

  private constructor(port: number, onLost: OnLost, localAddress?: string) {
    this.socket = connectLean(port, (chunk) => this.onData(chunk), localAddress);
    let reason: Error | undefined;
    this.socket.on("error", (error) => {
      reason = error;
    });
    this.socket.on("close", () => {
      if (this.isClosed) return;
      const isOwed = this.answered !== null;
      onLost(reason ?? new Error("the server closed the connection"), isOwed);
    });
  }

  /** Connected on return, so that no request pays for the handshake. */
  static async open(port: number): Promise<Connection> {
    const connection = new Connection(port, (reason, isOwed) => {
      if (isOwed)
        throw new Error("a connection was lost that was owed an answer", { cause: reason });
    });
    await once(connection.socket, "connect");
    return connection;
  }

  /** Connects while the first request waits; the loss of the connection is reported, not thrown. */
  static connecting(port: number, onLost: OnLost, localAddress?: string): Connection {
    return new Connection(port, onLost, localAddress);
  }

  send(request: Buffer, answered: OnAnswer): void {
    this.expect(answered);
    this.socket.write(request);
  }

  /** The next answer belongs to a request that somebody else writes to the socket itself. */
  expect(answered: OnAnswer): void {
    this.answered = answered;
  }

  /** The system's number of the socket. Node has it on every system but Windows, and not in its types. */
  get descriptor(): number {
    const { _handle: handle } = this.socket as unknown as { _handle?: { fd?: number } };
    const descriptor = handle?.fd ?? -1;
    if (descriptor < 0) throw new Error("this system does not tell the number of a socket");
    return descriptor;
  }

  close(): void {
    this.isClosed = true;
    this.answered = null;
    this.socket.destroy();
  }

  private onData(chunk: Buffer): void {
    const all = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headerEnd = all.indexOf(HEADER_END);
    const header = headerEnd < 0 ? "" : all.toString("latin1", 0, headerEnd);
    const length = Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
    const end = headerEnd + HEADER_END.length + length;
    if (headerEnd < 0 || all.length < end) {
      // What was read is written over by the next read.
      this.received = all === chunk ? Buffer.from(chunk) : all;
      return;
    }
    this.received = NOTHING;
    const { answered } = this;
    this.answered = null;
    answered?.(Number(header.slice(9, 12)), all.subarray(headerEnd + HEADER_END.length, end));
  }
}
