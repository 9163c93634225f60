/**
 * The load, in a process of its own: takes a plan over IPC, prepares every request, connects, then
 * either keeps all connections busy (saturation) or sends at a fixed rate that does not wait for
 * answers.
 *
 * A paced answer is measured twice: from the moment its request was due, which no stall of the
 * server can hide from (the requests due meanwhile wait as well), and from the moment it was
 * actually sent, which leaves out how late this process itself was. Far apart, they say that the
 * generator or its want of idle connections is what was measured; `latenessMs` tells it.
 */
import { createPrivateKey } from "node:crypto";
import { setPriority } from "node:os";
import { Connection } from "./connection.js";
import { InFlight } from "./in-flight.js";
import { startPacedSender } from "./paced-sender.js";
import { orderBody, orderRequest, readRequest } from "./wire.js";

export interface OrdersOf {
  readonly price: number;
  readonly firstNonce: number;
  readonly traders: readonly { readonly token: string; readonly privateKeyPem: string }[];
}

export interface LoadPlan {
  readonly port: number;
  readonly connections: number;
  readonly count: number;
  /** Requests per second; 0: as fast as the answers come. */
  readonly rate: number;
  /** Of `count`, the first so many are sent and not measured. */
  readonly warmUp: number;
  /** Orders, or a path to read over and over. */
  readonly send: OrdersOf | string;
}

export interface LoadResult {
  /** Answers after the warm-up, and the time they took. */
  readonly answered: number;
  readonly seconds: number;
  /** When the first of them was due, on the clock that all processes share; 0 if never one was. */
  readonly firstDueMs: number;
  /** From the actual send to the answer. */
  readonly sentLatenciesMs: readonly number[];
  /** From the moment the request was due to the answer; as the former at saturation. */
  readonly dueLatenciesMs: readonly number[];
  /** From due to sent. */
  readonly latenessMs: readonly number[];
  /** Answers other than 200, by status and beginning of the body. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Of a process that the system should let run as soon as it wants to. */
const HIGH_PRIORITY = -10;
/** Room before the first request is due, for the pacing thread to start. */
const LEAD_NS = 200_000_000n;

function prepare({ send, count }: LoadPlan): Buffer[] {
  if (typeof send === "string") return Array<Buffer>(count).fill(readRequest(send));
  const traders = send.traders.map(({ token, privateKeyPem }) => ({
    token,
    key: createPrivateKey(privateKeyPem),
  }));
  return Array.from({ length: count }, (_, i) => {
    const nonce = send.firstNonce + Math.floor(i / traders.length);
    return orderRequest(traders[i % traders.length]!, orderBody(nonce, send.price));
  });
}

class Run {
  private dueNs: BigInt64Array;
  private sentNs: BigInt64Array;
  private readonly answeredNs: BigInt64Array;
  private readonly refused: Record<string, number> = {};
  private next = 0;
  private answers = 0;

  constructor(
    private readonly plan: LoadPlan,
    private readonly requests: readonly Buffer[],
    private readonly connections: readonly Connection[],
  ) {
    this.dueNs = new BigInt64Array(plan.count);
    this.sentNs = new BigInt64Array(plan.count);
    this.answeredNs = new BigInt64Array(plan.count);
  }

  saturate(): Promise<void> {
    return new Promise((resolve) => {
      const keepBusy = (connection: Connection): void => {
        if (this.next < this.plan.count) this.send(connection, () => keepBusy(connection));
        else if (this.answers === this.plan.count) resolve();
      };
      for (const connection of this.connections) keepBusy(connection);
    });
  }

  paced(): Promise<void> {
    const { count, rate } = this.plan;
    const flight = InFlight.of(this.requests, this.connections.length);
    this.dueNs = flight.dueNs;
    this.sentNs = flight.sentNs;
    const descriptors = this.connections.map(({ descriptor }) => descriptor);
    return new Promise((resolve) => {
      for (const [i, connection] of this.connections.entries()) {
        const onAnswer = (status: number, body: Buffer): void => {
          this.note(flight.getOrderOn(i), status, body);
          connection.expect(onAnswer);
          flight.putIdle(i);
          if (this.answers === count) resolve();
        };
        connection.expect(onAnswer);
      }
      startPacedSender({
        flight: flight.shared,
        descriptors,
        startNs: now() + LEAD_NS,
        gapNs: 1e9 / rate,
      });
    });
  }

  result(): LoadResult {
    const { warmUp, count } = this.plan;
    const between = (from: BigInt64Array, to: BigInt64Array): number[] =>
      Array.from({ length: count - warmUp }, (_, i) => {
        const at = i + warmUp;
        return Number(to[at]! - from[at]!) / 1e6;
      });
    const last = this.answeredNs.reduce((a, b) => (a > b ? a : b), 0n);
    return {
      answered: count - warmUp,
      seconds: Number(last - this.sentNs[warmUp]!) / 1e9,
      firstDueMs: Number(this.dueNs[warmUp]!) / 1e6,
      sentLatenciesMs: between(this.sentNs, this.answeredNs),
      dueLatenciesMs: between(this.dueNs, this.answeredNs),
      latenessMs: between(this.dueNs, this.sentNs),
      refused: this.refused,
    };
  }

  private send(connection: Connection, onAnswer: () => void): void {
    const at = this.next++;
    this.sentNs[at] = this.dueNs[at] = now();
    connection.send(this.requests[at]!, (status, body) => {
      this.note(at, status, body);
      onAnswer();
    });
  }

  private note(at: number, status: number, body: Buffer): void {
    this.answeredNs[at] = now();
    this.answers++;
    if (status === 200) return;
    const kind = `${status} ${body.toString("utf8", 0, 60)}`;
    this.refused[kind] = (this.refused[kind] ?? 0) + 1;
  }
}

function now(): bigint {
  return process.hrtime.bigint();
}

async function run(plan: LoadPlan, requests: readonly Buffer[]): Promise<LoadResult> {
  const connections: Connection[] = [];
  for (let i = 0; i < plan.connections; i++) connections.push(await Connection.open(plan.port));
  if (plan.rate > 0) preferThisProcess();
  const load = new Run(plan, requests, connections);
  await (plan.rate === 0 ? load.saturate() : load.paced());
  for (const connection of connections) connection.close();
  return load.result();
}

/** A load elsewhere would not wait for this machine's cores; where that is not allowed, it waits. */
function preferThisProcess(): void {
  try {
    setPriority(HIGH_PRIORITY);
  } catch {
    // Only some users may; `latenessMs` shows what it costs.
  }
}

process.once("message", (plan: LoadPlan) => {
  const requests = prepare(plan);
  // What preparing left behind is not to be collected while the clock runs.
  globalThis.gc?.();
  process.send?.("ready");
  process.once("message", async () => {
    process.send?.(await run(plan, requests), () => process.disconnect());
  });
});
