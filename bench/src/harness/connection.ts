/**
 * One connection of a load, REST or WebSocket, that writes prepared bytes and reads answers in
 * order. A full HTTP or WebSocket client would take processor time from the server under test.
 */
import { connect, type Socket } from "node:net";
import type { GatewayAddress } from "./http.js";
import { FrameCounter, isOk, upgrade } from "./wire.js";

/** `body` is valid during the call only. An accepted operation of a socket has status 200. */
type OnAnswer = (status: number, body: Buffer) => void;

const HEADERS_END = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);
/** All connections of a process read into one buffer, so that reading makes no garbage. */
const READ_BUFFER = Buffer.allocUnsafe(65_536);

export class RawConnection {
  /** Called for each answer, in the order of the requests. */
  onAnswer: OnAnswer = () => undefined;
  /** Of a WebSocket. */
  readonly frames = new FrameCounter();
  private readonly socket: Socket;
  private isUpgraded = false;
  /** Bytes of an HTTP answer that is not complete. */
  private received: Buffer = EMPTY;
  private isClosed = false;

  /** `onLost` is called once if the server closes the connection or does not accept it. */
  constructor(address: GatewayAddress, onLost: (reason: Error) => void) {
    this.socket = connect({
      localAddress: "127.0.0.1",
      ...address,
      host: "127.0.0.1",
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (bytes) => {
          this.onData(READ_BUFFER.subarray(0, bytes));
          return true;
        },
      },
    });
    let reason = new Error("the server closed the connection");
    this.socket.on("error", (error) => {
      reason = error;
    });
    this.socket.on("close", () => {
      if (!this.isClosed) onLost(reason);
    });
  }

  /** Resolves once connected, with `socket` as a WebSocket, of a session if it has a token. */
  static open(
    address: GatewayAddress,
    socket?: { readonly token?: string },
  ): Promise<RawConnection> {
    return new Promise((resolve, reject) => {
      const connection = new RawConnection(address, (reason) => {
        reject(reason);
        connection.onAnswer(0, Buffer.from(reason.message));
      });
      if (socket === undefined) {
        connection.socket.once("connect", () => resolve(connection));
        return;
      }
      connection.onAnswer = (status, body) => {
        if (status === 101) resolve(connection);
        else reject(new Error(`no upgrade: ${status} ${body.toString()}`));
      };
      connection.send(upgrade(socket.token));
    });
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  send(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  /** The file descriptor of the socket, which Node has on every system but Windows. */
  get descriptor(): number {
    const handle: unknown = Reflect.get(this.socket, "_handle");
    const fd: unknown =
      typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : -1;
    if (typeof fd !== "number" || fd < 0) throw new Error("no descriptor of a socket");
    return fd;
  }

  close(): void {
    this.isClosed = true;
    this.socket.destroy();
  }

  private onData(chunk: Buffer): void {
    // What the handlers write in response goes out in one packet.
    this.socket.cork();
    const rest = this.isUpgraded ? chunk : this.onHttp(chunk);
    if (this.isUpgraded) {
      this.frames.push(rest, (bytes, at) => {
        this.onAnswer(isOk(bytes, at) ? 200 : 400, bytes.subarray(at));
      });
    }
    this.socket.uncork();
  }

  /** Reads whole answers; returns what follows an upgrade. */
  private onHttp(chunk: Buffer): Buffer {
    let rest = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk]);
    while (rest.length > 0 && !this.isUpgraded) {
      const headersEnd = rest.indexOf(HEADERS_END);
      const header = headersEnd < 0 ? "" : rest.toString("latin1", 0, headersEnd);
      const bodyAt = headersEnd + HEADERS_END.length;
      const end = bodyAt + Number(/content-length: (\d+)/i.exec(header)?.[1] ?? 0);
      if (headersEnd < 0 || rest.length < end) break;
      const status = Number(header.slice(9, 12));
      const body = rest.subarray(bodyAt, end);
      rest = rest.subarray(end);
      this.isUpgraded = status === 101;
      this.onAnswer(status, body);
    }
    // The next read overwrites the buffer.
    this.received = rest.length === 0 ? EMPTY : Buffer.from(rest);
    return rest;
  }
}
