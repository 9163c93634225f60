/**
 * The load of the soak, a process of its own: traders from as many client addresses, at saturation
 * first, then at a fixed rate. Told that the venue is down it sends nothing; told that it is up again
 * it looks for what was acknowledged before, and goes on.
 */
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { attackerAccount as accountFrom } from "../attacks/kinds/accounts.js";
import { remoteTarget } from "../attacks/trial/remote-target.js";
import { percentile } from "../report.js";
import { field, SoakTrader } from "./trader.js";

export type LoadRequest =
  | { readonly do: "start"; readonly port: number; readonly traders: number }
  | { readonly do: "saturate"; readonly milliseconds: number }
  | { readonly do: "pace"; readonly perSecond: number }
  | { readonly do: "window" }
  | { readonly do: "down" }
  | { readonly do: "up"; readonly port: number };

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
const HIGH_PRIORITY = -10;
/** Reads a second of one account are limited; all accounts look at the same time. */
const LOOK_PAUSE_MS = 25;

class Load {
  private readonly traders: SoakTrader[] = [];
  private readonly idle: SoakTrader[] = [];
  private latenciesMs: number[] = [];
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
      const localAddress = addressOf(i);
      const account = await accountFrom(remoteTarget({ port, localAddress }, []));
      const trader = new SoakTrader(account, localAddress);
      trader.connect(port);
      this.traders.push(trader);
      this.idle.push(trader);
    }
    setInterval(() => this.tick(), TICK_MS);
  }

  /** All traders busy; accepted operations a second. */
  async saturate(milliseconds: number): Promise<number> {
    const startedMs = performance.now();
    const busy = async (trader: SoakTrader): Promise<number> => {
      let done = 0;
      while (performance.now() - startedMs < milliseconds) {
        const status = await new Promise<number>((resolve) => trader.operate(resolve));
        if (status === 200) done++;
      }
      return done;
    };
    const done = await Promise.all(this.traders.map(busy));
    const seconds = (performance.now() - startedMs) / 1_000;
    return done.reduce((sum, each) => sum + each, 0) / seconds;
  }

  pace(perSecond: number): void {
    this.perSecond = perSecond;
    this.nextDueMs = performance.now();
  }

  window(): LoadWindow {
    const { latenciesMs } = this;
    const lost = this.traders.reduce((sum, trader) => sum + trader.takeLosses(), 0);
    const refused = { ...this.refused, ...(lost > 0 ? { "connections lost": lost } : {}) };
    this.latenciesMs = [];
    this.refused = {};
    return {
      answered: latenciesMs.length,
      p50Ms: percentile(latenciesMs, 0.5),
      p99Ms: percentile(latenciesMs, 0.99),
      maxMs: Math.max(0, ...latenciesMs),
      orders: this.traders.reduce((sum, { orders }) => sum + orders, 0),
      refused,
    };
  }

  down(): void {
    this.isDown = true;
    this.due.length = 0;
  }

  async up(port: number): Promise<Found> {
    this.port = port;
    const found = await Promise.all(this.traders.map((trader, i) => this.lookFor(trader, i)));
    for (const trader of this.traders) trader.connect(port);
    this.nextDueMs = performance.now();
    this.isDown = false;
    return {
      looked: found.reduce((sum, { looked }) => sum + looked, 0),
      missing: found.flatMap(({ missing }) => missing),
    };
  }

  private async lookFor(trader: SoakTrader, i: number): Promise<Found> {
    const target = remoteTarget({ port: this.port, localAddress: addressOf(i) }, []);
    const missing: string[] = [];
    for (const { orderId, nonce } of trader.sample) {
      const { status, text } = await target.get(`/v1/orders/${orderId}`, trader.token);
      const isFound = status === 200 && field(JSON.parse(text), "nonce") === nonce;
      if (!isFound)
        missing.push(`order ${orderId}, nonce ${nonce}: ${status} ${text.slice(0, 80)}`);
      await sleep(LOOK_PAUSE_MS);
    }
    return { looked: trader.sample.length, missing };
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
      this.latenciesMs.push(performance.now() - dueMs);
      if (status === 200) return;
      const kind = `${status} ${code}`;
      this.refused[kind] = (this.refused[kind] ?? 0) + 1;
    });
  }
}

function addressOf(trader: number): string {
  return `127.1.${Math.floor(trader / 250)}.${1 + (trader % 250)}`;
}

function preferThisProcess(): void {
  try {
    setPriority(HIGH_PRIORITY);
  } catch {
    // Only some users may; the load then waits for a core like everybody else.
  }
}

preferThisProcess();
const load = new Load();

async function answer(request: LoadRequest): Promise<unknown> {
  switch (request.do) {
    case "start":
      await load.start(request.port, request.traders);
      return "done";
    case "saturate":
      return load.saturate(request.milliseconds);
    case "pace":
      load.pace(request.perSecond);
      return "done";
    case "window":
      return load.window();
    case "down":
      load.down();
      return "done";
    case "up":
      return load.up(request.port);
  }
}

process.on("message", (request: LoadRequest) => {
  void answer(request).then((result) => process.send?.(result));
});
// The process that started this one is gone.
process.once("disconnect", () => process.exit());
