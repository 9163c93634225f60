/**
 * A client of the streams, written from the documentation: JSON text out, MessagePack in, read by a
 * library other than the server's.
 */

import { decode } from "@msgpack/msgpack";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";

export interface Frame {
  readonly t: string;
  readonly s?: string;
  readonly d: Payload;
}
export type Payload = Readonly<Record<string, unknown>>;

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

export class StreamClient {
  /** Frames not taken yet. */
  readonly frames: Frame[] = [];
  readonly closed: Promise<Closing>;
  /** Called for each frame instead of keeping it. */
  onFrame: ((frame: Frame) => void) | undefined;
  private arrived: () => void = () => undefined;
  private ids = 0;
  private end: Closing | undefined;

  private constructor(readonly socket: WebSocket) {
    socket.binaryType = "nodebuffer";
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (!isBinary) throw new Error("the server sent text");
      const frame = readFrame(decode(data));
      if (this.onFrame === undefined) this.frames.push(frame);
      else this.onFrame(frame);
      this.arrived();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        this.end = { code, reason: reason.toString() };
        resolve(this.end);
        this.arrived();
      });
    });
  }

  static async connect(
    url: string,
    token?: string,
    path = "/ws/v1",
    atEnd: (close: () => void) => void = onTestFinished,
  ): Promise<StreamClient> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace("http", "ws") + path, { headers });
    const client = new StreamClient(socket);
    atEnd(() => socket.terminate());
    await new Promise<void>((resolve, reject) => {
      socket.once("open", () => resolve());
      socket.once("error", reject);
    });
    socket.on("error", () => undefined);
    return client;
  }

  /** Sends an operation with a new id. */
  send(message: object): number {
    this.ids++;
    this.socket.send(JSON.stringify({ id: this.ids, ...message }));
    return this.ids;
  }

  /** Sends an operation and waits for the answer with its id. */
  async ask(message: object): Promise<Frame> {
    const id = this.send(message);
    return this.take((frame) => isAnswer(frame) && frame.d.id === id);
  }

  /** The first matching frame, now or later; other frames stay in the queue. */
  async take(fits: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const at = this.frames.findIndex(fits);
      if (at >= 0) return this.frames.splice(at, 1)[0]!;
      if (this.end !== undefined) throw new Error(`closed: ${JSON.stringify(this.end)}`);
      await new Promise<void>((resolve) => {
        this.arrived = resolve;
      });
    }
  }

  /** The next frame of a stream. */
  next(t: string): Promise<Frame> {
    return this.take((frame) => frame.t === t);
  }

  /** Resolves once everything sent so far is processed and its frames have arrived. */
  async settled(): Promise<void> {
    await this.ask({ op: "ping" });
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

function isAnswer({ t }: Frame): boolean {
  return t === "ok" || t === "error" || t === "pong";
}

function readFrame(value: unknown): Frame {
  if (typeof value !== "object" || value === null) throw new Error("not a map");
  const { t, s, d, ...rest }: Record<string, unknown> = { ...value };
  if (typeof t !== "string" || typeof d !== "object" || d === null) throw new Error("not a frame");
  if (s !== undefined && typeof s !== "string") throw new Error("not a frame");
  if (Object.keys(rest).length > 0) throw new Error("a frame with more than t, s and d");
  // Arrays stay arrays: a payload of trades is read by index.
  const payload: Payload = Array.isArray(d) ? { items: d } : { ...d };
  return s === undefined ? { t, d: payload } : { t, s, d: payload };
}

/** The fields of a value that should be a map. */
export function fieldsOf(value: unknown): Payload {
  if (typeof value !== "object" || value === null) throw new Error("not a map");
  return { ...value };
}
