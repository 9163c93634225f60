/**
 * The venue that is attacked: the built process in its default configuration, bots included, on a
 * data folder that has a full book and, for the attacker, accounts with a long past. The past is
 * made with limits out of the way; the process is then started again with the defaults.
 */

import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Gateway, startGateway, UNLIMITED } from "../../orders/gateway.js";
import { OrderPath } from "../../orders/order-path.js";
import { stop } from "../../orders/processes.js";
import { type SignedIn, signIn } from "../../orders/sign-in.js";
import { progress } from "../../report.js";
import { type ProcessFigures, processFigures } from "./process-figures.js";

const VETERANS = 8;
const ORDERS_EACH = 1_100;
const DEPOSITS = 1_000;
const AT_ONCE = 20;
const LEVELS = 300;
const SEEDING = {
  bots: { actionsPerSecond: 1_000 },
  // The price of the orders stays near the market, and those that rest all the same have room.
  index: { gustsPerHour: 0 },
  risk: { maxOpenOrders: 5_000 },
  limits: UNLIMITED,
};
const BOOK_DEADLINE_MS = 90_000;
/** A venue that answers so many health checks in a row, each within this time, has settled. */
const PROMPT_ANSWERS = 4;
const PROMPT_MS = 50;
const LOOK_MS = 50;

export class SeededVenue {
  private constructor(
    private readonly folder: string,
    private readonly log: number,
    private gateway: Gateway,
    readonly veterans: readonly SignedIn[],
  ) {}

  static async start(): Promise<SeededVenue> {
    const folder = mkdtempSync(join(tmpdir(), "perpgate-attacks-"));
    process.once("exit", () => removeFolder(folder));
    const log = openSync(join(folder, "venue.log"), "a", 0o600);
    progress("attacks: making a book and accounts with a past …");
    const seeding = await startGateway({ folder, log, configuration: SEEDING });
    let veterans: SignedIn[];
    try {
      veterans = await seed(seeding);
    } finally {
      await stop(seeding.child);
    }
    const gateway = await startGateway({ folder, log, configuration: {} });
    return new SeededVenue(folder, log, gateway, veterans);
  }

  get origin(): string {
    return this.gateway.origin;
  }

  get port(): number {
    return this.gateway.port;
  }

  get isAlive(): boolean {
    return this.gateway.child.exitCode === null && this.gateway.child.signalCode === null;
  }

  get figures(): ProcessFigures {
    return processFigures(this.gateway.child.pid ?? 0);
  }

  /** Bytes that the process has written to its log. */
  get logBytes(): number {
    return fstatSync(this.log).size;
  }

  /** How long the venue was busy after an attack: until it answers several requests at once. */
  async settle(mostMs: number): Promise<number> {
    const startedMs = performance.now();
    for (let prompt = 0; this.isAlive && prompt < PROMPT_ANSWERS; ) {
      const busyMs = performance.now() - startedMs;
      if (busyMs > mostMs) return mostMs;
      const askedMs = performance.now();
      const isAnswered = await this.isHealthy(mostMs - busyMs);
      const isPrompt = isAnswered && performance.now() - askedMs < PROMPT_MS;
      prompt = isPrompt ? prompt + 1 : 0;
      await sleep(LOOK_MS);
    }
    return this.isAlive ? performance.now() - startedMs - PROMPT_ANSWERS * LOOK_MS : mostMs;
  }

  /** A new process on the same data. */
  async restart(): Promise<void> {
    await this.kill();
    this.gateway = await startGateway({ folder: this.folder, log: this.log, configuration: {} });
  }

  async close(): Promise<void> {
    await this.kill();
    closeSync(this.log);
    removeFolder(this.folder);
  }

  private async isHealthy(mostMs: number): Promise<boolean> {
    try {
      const response = await fetch(`${this.origin}/healthz`, {
        signal: AbortSignal.timeout(Math.max(1, Math.ceil(mostMs))),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }

  private async kill(): Promise<void> {
    if (!this.isAlive) return;
    const { child } = this.gateway;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
}

async function seed({ origin, port }: Gateway): Promise<SignedIn[]> {
  const veterans: SignedIn[] = [];
  for (let i = 0; i < VETERANS; i++) veterans.push(await signIn(origin));
  await new OrderPath(port, veterans).saturate(VETERANS * ORDERS_EACH);
  for (const { token } of veterans) await cancelAll(origin, token);
  for (let i = 0; i < DEPOSITS; i += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, k) => i + k);
    await Promise.all(batch.map((number) => deposit(origin, veterans[0]!.token, number)));
  }
  await untilBookIsFull(origin);
  return veterans;
}

/** No account has more open orders than the default configuration allows. */
async function cancelAll(origin: string, token: string): Promise<void> {
  const response = await fetch(`${origin}/v1/orders/cancel-all`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: "{}",
  });
  await response.arrayBuffer();
}

async function deposit(origin: string, token: string, number: number): Promise<void> {
  const txHash = `0x${number.toString(16).padStart(64, "0")}`;
  const response = await fetch(`${origin}/v1/bridge/deposit`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ chain: "ethereum", txHash, token: "USDC" }),
  });
  await response.arrayBuffer();
  if (response.status !== 202) throw new Error(`a deposit was answered ${response.status}`);
}

async function untilBookIsFull(origin: string): Promise<void> {
  const untilMs = performance.now() + BOOK_DEADLINE_MS;
  for (let levels = 0; levels < LEVELS; ) {
    if (performance.now() > untilMs) throw new Error(`the book has ${levels} levels only`);
    const response = await fetch(`${origin}/v1/markets/BTCUSD/book?depth=5000`);
    const book: unknown = await response.json();
    levels = bidsIn(book);
    await sleep(LOOK_MS);
  }
}

function bidsIn(book: unknown): number {
  const bids = typeof book === "object" && book !== null && "bids" in book ? book.bids : undefined;
  return Array.isArray(bids) ? bids.length : 0;
}

/** A process that was just killed may still hold files of it. */
function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
