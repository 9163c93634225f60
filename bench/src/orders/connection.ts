/**
 * One keep-alive connection that sends a prepared request and reads one answer, by hand: a full
 * HTTP client would take the cores that the server under test needs.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const HEADER_END = Buffer.from("\r\n\r\n");

export class Connection {
  private received: Buffer = Buffer.alloc(0);
  private answered: ((status: number, body: Buffer) => void) | null = null;

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => this.onData(chunk));
    socket.on("error", (error) => {
      throw error;
    });
    socket.on("close", () => {
      if (this.answered !== null)
        throw new Error("the server closed a connection it owed an answer");
    });
  }

  /** Connected on return, so that no request pays for the handshake. */
  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    await once(socket, "connect");
    return new Connection(socket);
  }

  send(request: Buffer, answered: (status: number, body: Buffer) => void): void {
    this.answered = answered;
    this.socket.write(request);
  }

  close(): void {
    this.answered = null;
    this.socket.destroy();
  }

  private onData(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    const headerEnd = this.received.indexOf(HEADER_END);
    if (headerEnd < 0) return;
    const header = this.received.toString("latin1", 0, headerEnd);
    const length = Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
    const end = headerEnd + 4 + length;
    if (this.received.length < end) return;
    const body = this.received.subarray(headerEnd + 4, end);
    const status = Number(header.slice(9, 12));
    this.received = this.received.subarray(end);
    const { answered } = this;
    this.answered = null;
    answered?.(status, body);
  }
}
