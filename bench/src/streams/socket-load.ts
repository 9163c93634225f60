/**
 * Order entry over sockets, in a process of its own: a socket for each trader, and over all of them
 * as many orders under way as the plan has connections. A REST connection carries one at a time; a
 * socket carries several where there are fewer traders than that.
 *
 * A socket sends its own trader's orders alone, so one that is served a little faster is done a
 * little sooner. What is measured ends when the first of them is: until then all are busy, as all
 * connections of the REST load are until its last orders.
 */
import { createPrivateKey } from "node:crypto";
import type { Socket } from "node:net";
import type { LoadPlan, LoadResult } from "../orders/load.js";
import { orderBody, signature } from "../orders/wire.js";
import { FrameCounter, type FrameSink } from "./frame-counter.js";
import { isOk, openSocket, textMessage } from "./plain-socket.js";

function prepare(plan: LoadPlan): Buffer[][] {
  const { send, count } = plan;
  if (typeof send === "string") throw new Error("sockets take orders");
  return send.traders.map(({ privateKeyPem }) => {
    const key = createPrivateKey(privateKeyPem);
    return Array.from({ length: Math.ceil(count / send.traders.length) }, (_, i) => {
      const body = orderBody(send.firstNonce + i, send.price);
      const sig = signature(key, body);
      return textMessage(JSON.stringify({ op: "order", id: i, body, sig }));
    });
  });
}

/** What is counted, over all sockets. */
class Count {
  readonly latenciesMs: number[] = [];
  readonly refused: Record<string, number> = {};
  private answers = 0;
  private startedMs = 0;
  private endedMs: number | undefined;

  constructor(private readonly warmUp: number) {}

  onAnswered(sentMs: number, nowMs: number): void {
    this.answers++;
    if (this.answers === this.warmUp) this.startedMs = nowMs;
    if (this.answers > this.warmUp && this.endedMs === undefined) {
      this.latenciesMs.push(nowMs - sentMs);
    }
  }

  onRefused(chunk: Buffer, at: number): void {
    const kind = chunk.toString("latin1", at, at + 80);
    this.refused[kind] = (this.refused[kind] ?? 0) + 1;
  }

  /** A socket has no more orders: from now on fewer are under way than before. */
  onDone(nowMs: number): void {
    this.endedMs ??= nowMs;
  }

  get seconds(): number {
    return ((this.endedMs ?? 0) - this.startedMs) / 1_000;
  }
}

/** One socket. */
class Lane {
  private readonly counter = new FrameCounter();
  private socket: Socket | undefined;
  private next = 0;
  private answers = 0;
  /** By order, when it was sent. */
  private readonly sentMs: number[] = [];
  private finish: () => void = () => undefined;
  private readonly onFrame: FrameSink = (chunk, at) => {
    if (!isOk(chunk, at)) this.count.onRefused(chunk, at);
  };

  constructor(
    private readonly messages: readonly Buffer[],
    private readonly count: Count,
  ) {}

  async open(port: number, token: string): Promise<void> {
    this.socket = await openSocket(port, token, (chunk) => this.onData(chunk));
  }

  run(underWay: number): Promise<void> {
    return new Promise((resolve) => {
      this.finish = resolve;
      this.send(underWay);
    });
  }

  close(): void {
    this.socket?.destroy();
  }

  /** Sends so many more, in one write. */
  private send(orders: number): void {
    const { messages, next } = this;
    const end = Math.min(next + orders, messages.length);
    const nowMs = performance.now();
    for (let i = next; i < end; i++) this.sentMs[i] = nowMs;
    this.next = end;
    if (end === next + 1) this.socket?.write(messages[next]!);
    else if (end > next) this.socket?.write(Buffer.concat(messages.slice(next, end)));
  }

  private onData(chunk: Buffer): void {
    this.counter.push(chunk, this.onFrame);
    const answered = this.counter.frames - this.answers;
    if (answered === 0) return;
    const nowMs = performance.now();
    // Which of those under way it was does not matter much: the oldest is taken for it.
    for (let i = 0; i < answered; i++) this.count.onAnswered(this.sentMs[this.answers++]!, nowMs);
    if (this.next === this.messages.length) this.count.onDone(nowMs);
    if (this.answers === this.messages.length) this.finish();
    else this.send(answered);
  }
}

async function run(plan: LoadPlan, prepared: readonly Buffer[][]): Promise<LoadResult> {
  const { send, port, warmUp, connections } = plan;
  const tokens = typeof send === "string" ? [] : send.traders.map(({ token }) => token);
  const count = new Count(warmUp);
  const lanes = prepared.map((messages) => new Lane(messages, count));
  for (const [i, lane] of lanes.entries()) await lane.open(port, tokens[i] ?? "");
  const underWay = Math.ceil(connections / lanes.length);
  await Promise.all(lanes.map((lane) => lane.run(underWay)));
  for (const lane of lanes) lane.close();
  const { latenciesMs, seconds, refused } = count;
  return {
    answered: latenciesMs.length,
    seconds,
    firstDueMs: 0,
    sentLatenciesMs: latenciesMs,
    dueLatenciesMs: latenciesMs,
    latenessMs: [],
    refused,
  };
}

process.once("message", (plan: LoadPlan) => {
  const prepared = prepare(plan);
  process.send?.("ready");
  process.once("message", async () => {
    process.send?.(await run(plan, prepared), () => process.disconnect());
  });
});
