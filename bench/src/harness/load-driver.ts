/**
 * The load driver, a process: closed loop (each connection keeps a number of requests in flight) or
 * open loop (a fixed rate that does not depend on the answers), over REST or WebSockets.
 *
 * Latencies count from the write to the socket. The open loop writes when a request is due, also while
 * the server stalls, so that requests that queue up count (coordinated omission); `late` is how long
 * after that moment it wrote.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { raisePriority, serve } from "./child.js";
import { RawConnection } from "./connection.js";
import type { BenchAccount, GatewayAddress } from "./http.js";
import { Latencies, type LatencySummary } from "./report.js";
import { message, orderBody, orderRequest, request, signatureOf } from "./wire.js";

export interface LaneOptions {
  readonly address: GatewayAddress;
  readonly isSocket?: boolean;
  readonly connections: number;
  /** Requests that each connection keeps in flight in the closed loop; 1 unless given. */
  readonly inFlight?: number;
  /** A path to read, or the accounts that send orders. */
  readonly send: string | readonly Pick<BenchAccount, "token" | "privateKeyPem">[];
}

export interface LoadResult {
  readonly perSecond: number;
  readonly sent: LatencySummary;
  readonly late: LatencySummary;
}

/** Of each turn, the first fifth is sent and not measured. */
const WARM_UP_SHARE = 0.2;
/** In a closed loop a fast connection sends more than its share of the turn. */
const SPARE = 1.5;
/** From the start of the pacing thread to the first request. */
const LEAD_MS = 200;

interface Trader {
  readonly token: string;
  readonly key: KeyObject;
  nonce: number;
}

/** By token: an account has one sequence of nonces in all lanes. */
const tradersByToken = new Map<string, Trader>();

function traderOf({ token, privateKeyPem }: Pick<BenchAccount, "token" | "privateKeyPem">): Trader {
  const known = tradersByToken.get(token);
  const trader = known ?? { token, key: createPrivateKey(privateKeyPem), nonce: 1 };
  tradersByToken.set(token, trader);
  return trader;
}

class Lane {
  private readonly connections: RawConnection[] = [];
  private readonly traders: readonly Trader[];

  constructor(private readonly options: LaneOptions) {
    this.traders = typeof options.send === "string" ? [] : options.send.map(traderOf);
  }

  /** Opens what is not open; a server may close connections that were idle between turns. */
  async open(): Promise<void> {
    for (let i = 0; i < this.options.connections; i++) {
      if (this.connections[i]?.isOpen === true) continue;
      const { token = "" } = this.traders[i % this.traders.length] ?? {};
      const socket = this.options.isSocket === true ? { token } : undefined;
      this.connections[i] = await RawConnection.open(this.options.address, socket);
    }
  }

  /** `rate` in requests a second; 0: closed loop. */
  async run(count: number, rate: number): Promise<LoadResult> {
    const { connections, inFlight = 1 } = this.options;
    const spare = Math.ceil(SPARE * count) + (inFlight + 1) * connections;
    const requests = this.prepare(rate === 0 ? spare : count);
    globalThis.gc?.();
    await this.open();
    const turn = new Turn(count);
    if (rate === 0) await this.closedLoop(turn, requests);
    else await this.openLoop(turn, requests, rate);
    return turn.result();
  }

  /** Request i is for connection i modulo their number; nonces rise across an account's connections. */
  private prepare(count: number): Buffer[] {
    const { send, isSocket, connections } = this.options;
    if (typeof send === "string") return Array<Buffer>(count).fill(request({ path: send }));
    return Array.from({ length: count }, (_, i) => {
      const trader = this.traders[(i % connections) % this.traders.length]!;
      const body = orderBody(trader.nonce++);
      const sig = signatureOf(trader.key, body);
      if (isSocket === true) return message({ op: "order", id: i, body, sig });
      return orderRequest(trader.token, body, sig);
    });
  }

  /** All connections stay busy until the last measured answer; what is in flight then is awaited. */
  private closedLoop(turn: Turn, requests: readonly Buffer[]): Promise<void> {
    const { connections, inFlight = 1 } = this.options;
    return new Promise((resolve, reject) => {
      let open = 0;
      for (const [c, connection] of this.connections.entries()) {
        const sentMs: number[] = [];
        let next = c;
        const send = (): void => {
          const bytes = requests[next];
          next += connections;
          if (bytes === undefined) return;
          open++;
          sentMs.push(nowMs());
          connection.send(bytes);
        };
        connection.onAnswer = (status, body) => {
          if (status === 0) return reject(new Error(body.toString()));
          open--;
          turn.onAnswer(sentMs.shift() ?? 0, 0, status, body);
          if (!turn.isOver) send();
          else if (open === 0) resolve();
        };
        for (let i = 0; i < inFlight; i++) send();
      }
    });
  }

  /** Each request goes out behind what is in flight on its connection. */
  private openLoop(turn: Turn, bytes: readonly Buffer[], rate: number): Promise<void> {
    const { connections } = this;
    const sentMs = new Float64Array(new SharedArrayBuffer(8 * turn.count));
    const gapMs = 1_000 / rate;
    const restorePriority = raisePriority();
    const startMs = nowMs() + LEAD_MS;
    const descriptors = connections.map(({ descriptor }) => descriptor);
    const pacing: Pacing = { bytes, sentMs, descriptors, startMs, gapMs };
    return new Promise<void>((resolve, reject) => {
      for (const [c, connection] of connections.entries()) {
        let i = c;
        connection.onAnswer = (status, body) => {
          if (status === 0) return reject(new Error(body.toString()));
          turn.onAnswer(sentMs[i]!, sentMs[i]! - startMs - i * gapMs, status, body);
          i += connections.length;
          if (turn.isOver) resolve();
        };
      }
      // The thread inherits this thread's priority.
      new Worker(new URL(import.meta.url), { workerData: pacing }).on("error", reject);
    }).finally(restorePriority);
  }
}

/** What one turn measures. */
class Turn {
  private readonly sent = new Latencies();
  private readonly late = new Latencies();
  private readonly warmUp: number;
  private readonly refused = new Map<string, number>();
  private answers = 0;
  private startedMs = 0;
  private endedMs = 0;

  constructor(readonly count: number) {
    this.warmUp = Math.max(1, Math.floor(WARM_UP_SHARE * count));
  }

  get isOver(): boolean {
    return this.answers >= this.count;
  }

  onAnswer(sentMs: number, lateMs: number, status: number, body: Buffer): void {
    const atMs = nowMs();
    if (status !== 200) {
      const kind = `${status} ${body.toString("latin1", 0, 80)}`;
      this.refused.set(kind, (this.refused.get(kind) ?? 0) + 1);
    }
    if (this.isOver) return;
    this.answers++;
    if (this.answers === this.warmUp) this.startedMs = atMs;
    if (this.answers <= this.warmUp) return;
    this.endedMs = atMs;
    this.sent.record(atMs - sentMs);
    this.late.record(lateMs);
  }

  result(): LoadResult {
    if (this.refused.size > 0) throw new Error(`refused: ${JSON.stringify([...this.refused])}`);
    const perSecond = (1_000 * (this.answers - this.warmUp)) / (this.endedMs - this.startedMs);
    return { perSecond, sent: this.sent.summary(), late: this.late.summary() };
  }
}

interface Pacing {
  readonly bytes: readonly Uint8Array[];
  /** Written by the pacing thread before it sends. */
  readonly sentMs: Float64Array;
  readonly descriptors: readonly number[];
  readonly startMs: number;
  readonly gapMs: number;
}

/**
 * Sleeps until each request is due and writes it to the socket. Timers of an event loop fire at
 * whole milliseconds and would send bursts; polling the clock would take a core from the server.
 */
function keepPace({ bytes, sentMs, descriptors, startMs, gapMs }: Pacing): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (const [i, order] of bytes.entries()) {
    const dueMs = startMs + i * gapMs;
    for (let left = dueMs - nowMs(); left > 0; left = dueMs - nowMs()) {
      Atomics.wait(sleeper, 0, 0, left);
    }
    sentMs[i] = nowMs();
    const written = writeSync(descriptors[i % descriptors.length]!, order);
    if (written < order.length) throw new Error(`a socket took ${written} bytes of a request`);
  }
}

/** Of the clock that all threads share; `performance.now()` starts at 0 in each. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

const lanes: Lane[] = [];
const driver = {
  /** Opens the connections of a lane; returns its number. */
  open: async (options: LaneOptions): Promise<number> => {
    const lane = new Lane(options);
    await lane.open();
    return lanes.push(lane) - 1;
  },
  run: (lane: number, count: number, rate: number): Promise<LoadResult> =>
    lanes[lane]!.run(count, rate),
};
export type LoadDriver = typeof driver;

if (isMainThread) serve(driver);
else keepPace(workerData);
