/** A process of sockets that subscribe to a stream, count frames, and report when all have one. */
import { serve } from "../harness/child.js";
import { Connection } from "../harness/connection.js";
import type { Address } from "../harness/http.js";
import { message } from "../harness/wire.js";

/** The reply to the subscription, and the snapshot. */
const FIRST_FRAMES = 2;

class Readers {
  private readonly connections: Connection[] = [];
  /** By connection: frames, and replies to operations. */
  private readonly frames: number[] = [];
  private readonly replies: number[] = [];
  private stream: string | null = null;
  private onFrame: () => void = () => undefined;
  private arrival: Promise<number> = Promise.resolve(0);

  /** `stream` null: the server sends without a subscription. */
  async open(address: Address, sockets: number, stream: string | null): Promise<void> {
    this.stream = stream;
    for (let i = 0; i < sockets; i++) {
      const connection = await Connection.open(address, {});
      this.connections.push(connection);
      this.frames.push(0);
      this.replies.push(0);
      connection.onAnswer = (status) => {
        this.frames[i]!++;
        if (status === 200) this.replies[i]!++;
        this.onFrame();
      };
      if (stream !== null) connection.send(message({ op: "subscribe", streams: [stream] }));
    }
    if (stream !== null) await this.until(this.frames, FIRST_FRAMES);
  }

  /** Leaves the stream, or joins it again over the same sockets. */
  async send(op: "subscribe" | "unsubscribe"): Promise<void> {
    this.replies.fill(0);
    const bytes = message({ op, streams: [this.stream] });
    for (const connection of this.connections) connection.send(bytes);
    await this.until(this.replies, 1);
  }

  /** From now on each socket's next frame is awaited. */
  arm(): void {
    this.frames.fill(0);
    let missing = this.connections.length;
    this.arrival = new Promise((resolve) => {
      for (const [i, connection] of this.connections.entries()) {
        const { onAnswer } = connection;
        connection.onAnswer = (status, body) => {
          connection.onAnswer = onAnswer;
          onAnswer(status, body);
          this.frames[i] = 1;
          missing--;
          if (missing === 0) resolve(Number(process.hrtime.bigint()) / 1e6);
        };
      }
    });
  }

  /** When the last socket had the frame that `arm` announced, and its size. */
  async arrived(): Promise<{ readonly lastAtMs: number; readonly frameBytes: number }> {
    const lastAtMs = await this.arrival;
    return { lastAtMs, frameBytes: this.connections[0]!.frames.lastBytes };
  }

  /** Of all sockets. */
  get frameCount(): number {
    return this.frames.reduce((sum, frames) => sum + frames, 0);
  }

  private async until(counts: readonly number[], least: number): Promise<void> {
    while (counts.some((count) => count < least)) {
      await new Promise<void>((resolve) => {
        this.onFrame = resolve;
      });
    }
    this.onFrame = () => undefined;
  }
}

const readers = new Readers();
const handlers = {
  open: (address: Address, sockets: number, stream: string | null) =>
    readers.open(address, sockets, stream),
  send: (op: "subscribe" | "unsubscribe") => readers.send(op),
  arm: () => readers.arm(),
  arrived: () => readers.arrived(),
  count: () => readers.frameCount,
};
export type ReadersHandlers = typeof handlers;

serve(handlers);
