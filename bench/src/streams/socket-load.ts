/**
 * Order entry over sockets, in a process of its own: each socket speaks for one trader and has one
 * order under way, as each connection of the REST load has.
 */
import { createPrivateKey } from "node:crypto";
import type { Socket } from "node:net";
import type { LoadPlan, LoadResult } from "../orders/load.js";
import { orderBody, signature } from "../orders/wire.js";
import { FrameCounter } from "./frame-counter.js";
import { openSocket, textMessage } from "./plain-socket.js";

/** The beginning of `{t: "ok", …}` in MessagePack. */
const OK = Buffer.from([0x82, 0xa1, 0x74, 0xa2, 0x6f, 0x6b]);

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

/** One socket, one order under way; the first `warmUp` of its orders are not measured. */
class Lane {
  readonly latenciesMs: number[] = [];
  readonly refused: string[] = [];
  /** When the first measured order was sent. */
  startedMs = 0;
  private readonly counter = new FrameCounter();
  private socket: Socket | undefined;
  private next = 0;
  private sentMs = 0;
  private finish: () => void = () => undefined;

  constructor(
    private readonly messages: readonly Buffer[],
    private readonly warmUp: number,
  ) {}

  async open(port: number, token: string): Promise<void> {
    this.socket = await openSocket(port, token, (chunk) => this.onData(chunk));
  }

  run(): Promise<void> {
    return new Promise((resolve) => {
      this.finish = resolve;
      this.send();
    });
  }

  close(): void {
    this.socket?.destroy();
  }

  private send(): void {
    this.sentMs = performance.now();
    if (this.next === this.warmUp) this.startedMs = this.sentMs;
    this.socket?.write(this.messages[this.next++]!);
  }

  private onData(chunk: Buffer): void {
    this.counter.push(chunk, (payload) => {
      if (!payload.subarray(0, OK.length).equals(OK)) {
        this.refused.push(payload.toString("latin1", 0, 80));
      }
    });
    if (this.counter.frames < this.next) return;
    if (this.next > this.warmUp) this.latenciesMs.push(performance.now() - this.sentMs);
    if (this.next === this.messages.length) this.finish();
    else this.send();
  }
}

async function run(plan: LoadPlan, prepared: readonly Buffer[][]): Promise<LoadResult> {
  const { send, port, warmUp } = plan;
  const tokens = typeof send === "string" ? [] : send.traders.map(({ token }) => token);
  const lanes = prepared.map(
    (messages) => new Lane(messages, Math.floor(warmUp / prepared.length)),
  );
  for (const [i, lane] of lanes.entries()) await lane.open(port, tokens[i] ?? "");
  await Promise.all(lanes.map((lane) => lane.run()));
  const seconds =
    (performance.now() - Math.min(...lanes.map(({ startedMs }) => startedMs))) / 1_000;
  const refused: Record<string, number> = {};
  for (const lane of lanes) {
    for (const kind of lane.refused) refused[kind] = (refused[kind] ?? 0) + 1;
    lane.close();
  }
  const latencies = lanes.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    answered: latencies.length,
    seconds,
    sentLatenciesMs: latencies,
    dueLatenciesMs: latencies,
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
