/** The two paths by which the honest trader sends: keep-alive REST, and one WebSocket. */
import { once } from "node:events";
import { Agent } from "node:http";
import { decodeFrame } from "@perpgate/protocol/stream-frame";
import { WebSocket } from "ws";
import { askOnce, type GatewayAddress } from "../../harness/http.js";
import { errorText } from "../../harness/report.js";

interface Outcome {
  /** `200`, or the venue's refusal, or how the connection was lost. */
  readonly status: string;
  /** Of an order that rests. */
  readonly orderId?: string;
}

export interface TradingPath {
  order(body: string, signature: string): Promise<Outcome>;
  cancel(orderId: string): Promise<Outcome>;
  close(): void;
}

const CONNECTIONS = 8;
/** Every tenth operation opens a new connection, as a trader that has just arrived does. */
const NEW_CONNECTION_EVERY = 10;

export class RestPath implements TradingPath {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  private operations = 0;

  constructor(
    private readonly address: GatewayAddress,
    private readonly token: string,
  ) {}

  order(body: string, signature: string): Promise<Outcome> {
    return this.send("/v1/orders", { body, signature });
  }

  cancel(orderId: string): Promise<Outcome> {
    return this.send(`/v1/orders/${orderId}/cancel`, {});
  }

  close(): void {
    this.agent.destroy();
  }

  private async send(path: string, parts: { body?: string; signature?: string }): Promise<Outcome> {
    const isNew = ++this.operations % NEW_CONNECTION_EVERY === 0;
    const options = { ...parts, token: this.token, agent: isNew ? (false as const) : this.agent };
    try {
      const { status, text } = await askOnce(this.address, path, options, "POST");
      const answer: unknown = JSON.parse(text);
      if (status === 200) return { status: "200", ...restingIn(answer) };
      return { status: `${status} ${String(fieldsOf(answer).code)}` };
    } catch (error) {
      return { status: `${isNew ? "new connection: " : ""}${errorText(error)}` };
    }
  }
}

export class SocketPath implements TradingPath {
  private readonly pending = new Map<number, (outcome: Outcome) => void>();
  private id = 0;

  private constructor(private readonly socket: WebSocket) {
    socket.on("message", (data: Buffer) => this.onFrame(data));
    socket.on("close", (code) => {
      for (const settle of this.pending.values()) settle({ status: `socket closed, ${code}` });
      this.pending.clear();
    });
    socket.on("error", () => undefined);
  }

  static async open({ port }: GatewayAddress, token: string): Promise<SocketPath> {
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
    this.pending.clear();
    this.socket.terminate();
  }

  private send(operation: object): Promise<Outcome> {
    const id = ++this.id;
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.resolve({ status: "the socket is closed" });
    }
    return new Promise((resolve) => {
      this.pending.set(id, resolve);
      this.socket.send(JSON.stringify({ ...operation, id }));
    });
  }

  private onFrame(data: Buffer): void {
    const { t: kind, d: payload } = decodeFrame(data);
    const { id, code, ack } = fieldsOf(payload);
    const settle = typeof id === "number" ? this.pending.get(id) : undefined;
    if (settle === undefined || typeof id !== "number") return;
    this.pending.delete(id);
    if (kind === "ok") settle({ status: "200", ...restingIn(ack) });
    else settle({ status: String(code) });
  }
}

function restingIn(ack: unknown): { readonly orderId?: string } {
  const { status, orderId } = fieldsOf(ack);
  return status === "resting" && typeof orderId === "string" ? { orderId } : {};
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
