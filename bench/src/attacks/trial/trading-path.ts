/** How the honest trader's operations reach the venue: REST, or one socket. */
import { once } from "node:events";
import { decodeFrame } from "@perpgate/protocol/stream-frame";
import { WebSocket } from "ws";
import { Connection } from "../../orders/connection.js";

export interface Outcome {
  /** `200`, or what the venue said instead. */
  readonly status: string;
  /** Of an order that rests. */
  readonly orderId?: string;
}

export interface TradingPath {
  order(body: string, sig: string, asRequest: () => Buffer): Promise<Outcome>;
  cancel(orderId: string): Promise<Outcome>;
  close(): void;
}

const CONNECTIONS = 8;
const RECONNECT_MS = 20;
/** So many operations share a connection before one opens its own. */
const NEW_CONNECTION_EVERY = 10;

export class RestPath implements TradingPath {
  private readonly idle: Connection[] = [];
  private readonly waiting: ((connection: Connection) => void)[] = [];
  /** Every connection that is open, and what to do when it is lost with a request in flight. */
  private readonly open = new Map<Connection, (reason: Error) => void>();
  private operations = 0;
  private isClosed = false;

  private constructor(
    private readonly port: number,
    private readonly token: string,
  ) {}

  static async start(port: number, token: string): Promise<RestPath> {
    const path = new RestPath(port, token);
    for (let i = 0; i < CONNECTIONS; i++) path.idle.push(path.connect());
    return path;
  }

  order(_body: string, _sig: string, asRequest: () => Buffer): Promise<Outcome> {
    return this.send(asRequest());
  }

  cancel(orderId: string): Promise<Outcome> {
    return this.send(
      Buffer.from(
        `POST /v1/orders/${orderId}/cancel HTTP/1.1\r\nhost: 127.0.0.1\r\n` +
          `authorization: Bearer ${this.token}\r\ncontent-length: 0\r\n\r\n`,
      ),
    );
  }

  close(): void {
    this.isClosed = true;
    for (const connection of this.open.keys()) connection.close();
    this.open.clear();
    this.idle.length = 0;
    this.waiting.length = 0;
  }

  private async send(request: Buffer): Promise<Outcome> {
    const isNew = ++this.operations % NEW_CONNECTION_EVERY === 0;
    if (isNew) return this.sendOnNew(request);
    const connection = await this.take();
    return new Promise((resolve) => {
      this.open.set(connection, (reason) => {
        resolve({ status: reason.message });
        this.replace();
      });
      connection.send(request, (status, body) => {
        this.open.set(connection, () => this.replaceIdle(connection));
        this.put(connection);
        resolve(outcomeOf(status, body));
      });
    });
  }

  private sendOnNew(request: Buffer): Promise<Outcome> {
    return new Promise((resolve) => {
      const connection = Connection.connecting(this.port, (reason) => {
        connection.close();
        resolve({ status: `new connection: ${reason.message}` });
      });
      connection.send(request, (status, body) => {
        connection.close();
        resolve(outcomeOf(status, body));
      });
    });
  }

  private connect(): Connection {
    const connection = Connection.connecting(this.port, (reason) => {
      const onLost = this.open.get(connection);
      this.open.delete(connection);
      connection.close();
      onLost?.(reason);
    });
    this.open.set(connection, () => this.replaceIdle(connection));
    return connection;
  }

  private replaceIdle(connection: Connection): void {
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    this.replace();
  }

  /** After a pause: a venue that is gone would be asked without end. */
  private replace(): void {
    setTimeout(() => {
      if (!this.isClosed) this.put(this.connect());
    }, RECONNECT_MS);
  }

  private take(): Promise<Connection> {
    const connection = this.idle.pop();
    if (connection !== undefined) return Promise.resolve(connection);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private put(connection: Connection): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(connection);
    else next(connection);
  }
}

export class SocketPath implements TradingPath {
  private readonly answers = new Map<number, (outcome: Outcome) => void>();
  private id = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => this.onFrame(data));
    socket.on("close", (code) => {
      for (const settle of this.answers.values()) settle({ status: `socket closed, ${code}` });
      this.answers.clear();
    });
    socket.on("error", () => undefined);
  }

  static async start(port: number, token: string): Promise<SocketPath> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws/v1`, { headers });
    await once(socket, "open");
    return new SocketPath(socket);
  }

  order(body: string, sig: string): Promise<Outcome> {
    return this.send({ op: "order", body, sig });
  }

  cancel(orderId: string): Promise<Outcome> {
    return this.send({ op: "cancel", orderId });
  }

  close(): void {
    this.answers.clear();
    this.socket.terminate();
  }

  private send(operation: object): Promise<Outcome> {
    const id = ++this.id;
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.resolve({ status: "the socket is closed" });
    }
    return new Promise((resolve) => {
      this.answers.set(id, resolve);
      this.socket.send(JSON.stringify({ ...operation, id }));
    });
  }

  private onFrame(data: Buffer): void {
    const { t: kind, d: payload } = decodeFrame(data);
    const { id, code, ack } = fieldsOf(payload);
    const settle = typeof id === "number" ? this.answers.get(id) : undefined;
    if (settle === undefined || typeof id !== "number") return;
    this.answers.delete(id);
    if (kind === "ok") settle({ status: "200", ...restingIn(ack) });
    else settle({ status: String(code) });
  }
}

function outcomeOf(status: number, body: Buffer): Outcome {
  const answer: unknown = JSON.parse(body.toString());
  if (status === 200) return { status: "200", ...restingIn(answer) };
  return { status: `${status} ${String(fieldsOf(answer).code)}` };
}

function restingIn(ack: unknown): { readonly orderId?: string } {
  const { status, orderId } = fieldsOf(ack);
  return status === "resting" && typeof orderId === "string" ? { orderId } : {};
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
