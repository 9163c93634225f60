/**
 * The load of the soak, a process: traders from as many client addresses, first at saturation, then at
 * a fixed rate. `down` stops the sending; `up` looks for what was acknowledged before and resumes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { raisePriority, serve } from "../harness/child.js";
import { ask, signIn } from "../harness/http.js";
import { Latencies } from "../harness/report.js";
import { field, SoakTrader } from "./trader.js";

export interface LoadWindow {
  readonly answered: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Since the start. */
  readonly orders: number;
  /** In this window, by status and code; connections that the venue closed are among them. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Found {
  readonly looked: number;
  /** Acknowledged orders that the venue does not have, or has with another nonce. */
  readonly missing: readonly string[];
}

const TICK_MS = 2;
const RECONNECT_MS = 20;
/** Reads a second of one account are limited; all accounts look at the same time. */
const LOOK_PAUSE_MS = 25;

export class Load {
  private readonly traders: SoakTrader[] = [];
  private readonly idle: SoakTrader[] = [];
  private latencies = new Latencies();
  private refused: Record<string, number> = {};
  private port = 0;
  private perSecond = 0;
  private nextDueMs = 0;
  private nextReconnectMs = 0;
  private isDown = false;
  private readonly due: number[] = [];

  async start(port: number, count: number): Promise<void> {
    this.port = port;
    for (let i = 0; i < count; i++) {
      const localAddress = `127.1.${Math.floor(i / 250)}.${1 + (i % 250)}`;
      const trader = new SoakTrader(await signIn({ port, localAddress }), localAddress);
      trader.connect(port);
      this.traders.push(trader);
      this.idle.push(trader);
    }
    setInterval(() => this.tick(), TICK_MS);
  }

  /** All traders busy; returns the accepted operations a second. */
  async saturate(milliseconds: number): Promise<number> {
    const startedMs = performance.now();
    let accepted = 0;
    const keepBusy = async (trader: SoakTrader): Promise<void> => {
      while (performance.now() - startedMs < milliseconds) {
        const status = await new Promise<number>((resolve) => trader.operate(resolve));
        if (status === 200) accepted++;
      }
    };
    await Promise.all(this.traders.map(keepBusy));
    return (1_000 * accepted) / (performance.now() - startedMs);
  }

  pace(perSecond: number): void {
    this.perSecond = perSecond;
    this.nextDueMs = performance.now();
  }

  window(): LoadWindow {
    const { count, p50, p99, max } = this.latencies.summary();
    const lost = this.traders.reduce((sum, trader) => sum + trader.takeLosses(), 0);
    const refused = { ...this.refused, ...(lost > 0 ? { "connections lost": lost } : {}) };
    this.latencies = new Latencies();
    this.refused = {};
    const orders = this.traders.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
    return { answered: count, p50Ms: p50, p99Ms: p99, maxMs: max, orders, refused };
  }

  down(): void {
    this.isDown = true;
    this.due.length = 0;
  }

  async up(port: number): Promise<Found> {
    this.port = port;
    const missing = await Promise.all(this.traders.map((trader) => this.missingOf(trader)));
    for (const trader of this.traders) trader.connect(port);
    this.nextDueMs = performance.now();
    this.isDown = false;
    const looked = this.traders.reduce((sum, { sample }) => sum + sample.length, 0);
    return { looked, missing: missing.flat() };
  }

  private async missingOf({ sample, token, localAddress }: SoakTrader): Promise<string[]> {
    const missing: string[] = [];
    for (const { orderId, nonce } of sample) {
      const address = { port: this.port, localAddress };
      const { status, text } = await ask(address, `/v1/orders/${orderId}`, { token });
      const isFound = status === 200 && field(JSON.parse(text), "nonce") === nonce;
      if (!isFound)
        missing.push(`order ${orderId}, nonce ${nonce}: ${status} ${text.slice(0, 80)}`);
      await sleep(LOOK_PAUSE_MS);
    }
    return missing;
  }

  private tick(): void {
    if (this.isDown) return;
    const nowMs = performance.now();
    if (nowMs >= this.nextReconnectMs) {
      this.nextReconnectMs = nowMs + RECONNECT_MS;
      for (const trader of this.traders) if (!trader.isConnected) trader.connect(this.port);
    }
    if (this.perSecond === 0) return;
    for (; this.nextDueMs <= nowMs; this.nextDueMs += 1_000 / this.perSecond) {
      this.due.push(this.nextDueMs);
    }
    while (this.due.length > 0 && this.idle.length > 0) {
      this.send(this.idle.shift()!, this.due.shift()!);
    }
  }

  private send(trader: SoakTrader, dueMs: number): void {
    trader.operate((status, code) => {
      this.idle.push(trader);
      this.latencies.record(performance.now() - dueMs);
      if (status === 200) return;
      const kind = `${status} ${code}`;
      this.refused[kind] = (this.refused[kind] ?? 0) + 1;
    });
  }
}

raisePriority();
serve(new Load());
