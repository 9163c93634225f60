/**
 * The venue that is attacked: the built process in its default configuration, bots included, with a
 * full book and, for the attacker, accounts with a long history. The history is made with limits
 * raised; the process is then started again with the defaults.
 */
import { closeSync, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BenchGateway, inFolder, UNLIMITED_GATEWAY } from "../../harness/gateway.js";
import {
  ask,
  askOnce,
  type BenchAccount,
  type GatewayAddress,
  signInMany,
} from "../../harness/http.js";
import { withLoad } from "../../harness/load.js";
import { progress } from "../../harness/report.js";

const VETERANS = 8;
const ORDERS_EACH = 1_100;
const ROUNDS = 2;
const DEPOSITS = 1_000;
const CONCURRENT = 20;
const LEVELS = 300;
const SEEDING = {
  bots: { actionsPerSecond: 1_000 },
  // Keeps the price of the orders near the market, and leaves room for those that rest.
  index: { gustsPerHour: 0 },
  risk: { maxOpenOrders: 5_000 },
  limits: UNLIMITED_GATEWAY,
};
const BOOK_DEADLINE_MS = 90_000;
/** A venue that answers this many health checks in a row, each within this time, has settled. */
const PROMPT_ANSWERS = 4;
const PROMPT_MS = 50;
const LOOK_MS = 50;

export class SeededVenue {
  private constructor(
    public gateway: BenchGateway,
    private readonly log: number,
    readonly veterans: readonly BenchAccount[],
  ) {}

  static run<T>(run: (venue: SeededVenue) => Promise<T>): Promise<T> {
    return inFolder("attacks", async (folder) => {
      const log = openSync(join(folder, "venue.log"), "a", 0o600);
      progress("attacks: making a book and accounts with a history …");
      const seeding = await BenchGateway.start({ folder, log, configuration: SEEDING });
      const veterans = await seed({ port: seeding.port }).finally(() => seeding.end());
      const gateway = await BenchGateway.start({ folder, log, configuration: {} });
      const venue = new SeededVenue(gateway, log, veterans);
      try {
        return await run(venue);
      } finally {
        await venue.gateway.end("SIGKILL");
        closeSync(log);
      }
    });
  }

  get port(): number {
    return this.gateway.port;
  }

  /** Bytes that the process has written to its log. */
  get logBytes(): number {
    return fstatSync(this.log).size;
  }

  /** How long the venue stays busy after an attack: until it answers several requests promptly. */
  async settle(withinMs: number): Promise<number> {
    const startedMs = performance.now();
    for (let prompt = 0; this.gateway.isAlive && prompt < PROMPT_ANSWERS; ) {
      const busyMs = performance.now() - startedMs;
      if (busyMs > withinMs) return withinMs;
      const isPrompt = (await this.healthCheckMs(withinMs - busyMs)) < PROMPT_MS;
      prompt = isPrompt ? prompt + 1 : 0;
      await sleep(LOOK_MS);
    }
    if (!this.gateway.isAlive) return withinMs;
    return performance.now() - startedMs - PROMPT_ANSWERS * LOOK_MS;
  }

  /** A new process on the same data. */
  async restart(): Promise<void> {
    await this.gateway.end("SIGKILL");
    this.gateway = await this.gateway.startAgain();
  }

  /** Milliseconds until the health check succeeds; infinite if it does not. */
  private async healthCheckMs(withinMs: number): Promise<number> {
    const askedMs = performance.now();
    try {
      const signal = AbortSignal.timeout(Math.max(1, Math.ceil(withinMs)));
      const response = await fetch(`${this.gateway.origin}/healthz`, { signal });
      await response.arrayBuffer();
      return response.ok ? performance.now() - askedMs : Number.POSITIVE_INFINITY;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }
}

async function seed(address: GatewayAddress): Promise<BenchAccount[]> {
  const veterans = await signInMany(address, VETERANS);
  await withLoad(async (open) => {
    const lane = await open({ address, send: veterans, connections: 2 * VETERANS });
    // No account may have more open orders than its equity and the default configuration allow.
    for (let round = 0; round < ROUNDS; round++) {
      await lane.saturate((VETERANS * ORDERS_EACH) / ROUNDS);
      for (const { token } of veterans) {
        await ask(address, "/v1/orders/cancel-all", { body: "{}", token });
      }
    }
  });
  const { token } = veterans[0]!;
  for (let i = 0; i < DEPOSITS; i += CONCURRENT) {
    const batch = Array.from({ length: CONCURRENT }, (_, k) => deposit(address, token, i + k));
    await Promise.all(batch);
  }
  await untilBookIsFull(address);
  return veterans;
}

async function deposit(address: GatewayAddress, token: string, number: number): Promise<void> {
  const txHash = `0x${number.toString(16).padStart(64, "0")}`;
  const body = JSON.stringify({ chain: "ethereum", txHash, token: "USDC" });
  const { status } = await askOnce(address, "/v1/bridge/deposit", { body, token });
  if (status !== 202) throw new Error(`a deposit was answered ${status}`);
}

async function untilBookIsFull(address: GatewayAddress): Promise<void> {
  const untilMs = performance.now() + BOOK_DEADLINE_MS;
  for (let levels = 0; levels < LEVELS; await sleep(LOOK_MS)) {
    if (performance.now() > untilMs) throw new Error(`the book has only ${levels} levels`);
    const { text } = await askOnce(address, "/v1/markets/BTCUSD/book?depth=5000");
    const { bids = [] }: { bids?: unknown[] } = JSON.parse(text);
    levels = bids.length;
  }
}
