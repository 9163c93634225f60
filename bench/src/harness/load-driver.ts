/**
 * The load driver, a process: closed loop (each connection keeps a number of requests in flight) or
 * open loop (a fixed rate that does not depend on the answers), over REST or WebSockets.
 *
 * An answer of the open loop is measured twice: since its request was due, which includes requests
 * that were late because the server stalled (coordinated omission), and since it was sent, which
 * leaves out how late this process was. `late` is the difference.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { raisePriority, serve } from "./child.js";
import { Connection } from "./connection.js";
import type { Account, Address } from "./http.js";
import { Latencies, type LatencySummary } from "./report.js";
import { message, orderBody, orderRequest, request, signatureOf } from "./wire.js";

export interface LaneOptions {
  readonly address: Address;
  readonly isSocket?: boolean;
  readonly connections: number;
  /** Requests that each connection keeps in flight in the closed loop; 1 unless given. */
  readonly inFlight?: number;
  /** A path to read, or the accounts that send orders. */
  readonly send: string | readonly Pick<Account, "token" | "privateKeyPem">[];
}

export interface LoadResult {
  readonly perSecond: number;
  readonly sent: LatencySummary;
  readonly due: LatencySummary;
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

class Lane {
  private readonly connections: Connection[] = [];

  constructor(
    private readonly options: LaneOptions,
    private readonly traders: readonly Trader[],
  ) {}

  /** Opens what is not open; a server may close connections that were idle between turns. */
  async open(): Promise<void> {
    for (let i = 0; i < this.options.connections; i++) {
      if (this.connections[i]?.isOpen === true) continue;
      const { token = "" } = this.traders[i % this.traders.length] ?? {};
      const socket = this.options.isSocket === true ? { token } : undefined;
      this.connections[i] = await Connection.open(this.options.address, socket);
    }
  }

  /** `rate` in requests a second; 0: closed loop. */
  async run(count: number, rate: number): Promise<LoadResult> {
    const { connections } = this;
    const each = Math.ceil(((rate === 0 ? SPARE : 1) * count) / connections.length) + 1;
    const requests = this.prepare(each + (this.options.inFlight ?? 1));
    globalThis.gc?.();
    await this.open();
    const turn = new Turn(count);
    if (rate === 0) await this.closedLoop(turn, requests);
    else await this.openLoop(turn, requests, rate);
    return turn.result();
  }

  /** Requests by connection. A trader's nonces rise across all of its connections. */
  private prepare(each: number): Buffer[][] {
    const { send, isSocket } = this.options;
    const requests = this.connections.map((): Buffer[] => []);
    const read = typeof send === "string" ? request({ path: send }) : undefined;
    for (let i = 0; i < each; i++) {
      for (const [c, list] of requests.entries()) {
        const trader = this.traders[c % this.traders.length];
        if (trader === undefined) {
          list.push(read!);
          continue;
        }
        const body = orderBody(trader.nonce++);
        const sig = signatureOf(trader.key, body);
        if (isSocket === true) list.push(message({ op: "order", id: i, body, sig }));
        else list.push(orderRequest(trader.token, body, sig));
      }
    }
    return requests;
  }

  /** All connections stay busy until the last measured answer; what is in flight then is awaited. */
  private closedLoop(turn: Turn, requests: readonly (readonly Buffer[])[]): Promise<void> {
    const { inFlight = 1 } = this.options;
    return new Promise((resolve, reject) => {
      let open = 0;
      for (const [c, connection] of this.connections.entries()) {
        const sentMs: number[] = [];
        let next = 0;
        const send = (): void => {
          const bytes = requests[c]?.[next++];
          if (bytes === undefined) return;
          open++;
          sentMs.push(nowMs());
          connection.send(bytes);
        };
        connection.onAnswer = (status, body) => {
          if (status === 0) reject(new Error(body.toString()));
          open--;
          const at = sentMs.shift() ?? 0;
          turn.onAnswer(at, at, status, body);
          if (!turn.isOver) send();
          else if (open === 0) resolve();
        };
        for (let i = 0; i < inFlight; i++) send();
      }
    });
  }

  /** Request i goes over connection i modulo their number, behind what is in flight there. */
  private openLoop(turn: Turn, requests: readonly (readonly Buffer[])[], rate: number) {
    const { connections } = this;
    const order = (i: number): Buffer =>
      requests[i % connections.length]![Math.floor(i / connections.length)]!;
    const bytes = Array.from({ length: turn.count }, (_, i) => order(i));
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
          if (status === 0) reject(new Error(body.toString()));
          turn.onAnswer(startMs + i * gapMs, sentMs[i] ?? 0, status, body);
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
  private readonly due = new Latencies();
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

  onAnswer(dueMs: number, sentMs: number, status: number, body: Buffer): void {
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
    this.due.record(atMs - dueMs);
    this.sent.record(atMs - sentMs);
    this.late.record(sentMs - dueMs);
  }

  result(): LoadResult {
    if (this.refused.size > 0) throw new Error(`refused: ${JSON.stringify([...this.refused])}`);
    const { due, sent, late, answers, warmUp, startedMs, endedMs } = this;
    const perSecond = (1_000 * (answers - warmUp)) / (endedMs - startedMs);
    return { perSecond, due: due.summary(), sent: sent.summary(), late: late.summary() };
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

function newDriver() {
  const lanes: Lane[] = [];
  const traders = new Map<string, Trader>();
  return {
    /** Opens the connections of a lane; returns its number. */
    open: async (options: LaneOptions): Promise<number> => {
      const { send } = options;
      const own = (typeof send === "string" ? [] : send).map(({ token, privateKeyPem }) => {
        const known = traders.get(token);
        const trader = known ?? { token, key: createPrivateKey(privateKeyPem), nonce: 1 };
        traders.set(token, trader);
        return trader;
      });
      const lane = new Lane(options, own);
      await lane.open();
      return lanes.push(lane) - 1;
    },
    run: (lane: number, count: number, rate: number): Promise<LoadResult> =>
      lanes[lane]!.run(count, rate),
  };
}
export type LoadDriver = ReturnType<typeof newDriver>;

if (isMainThread) serve(newDriver());
else keepPace(workerData);
