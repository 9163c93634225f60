/**
 * The honest trader, a process that runs for the whole table: 50 operations a second (a resting limit
 * order, its cancel, a small market order, and so on) over keep-alive REST or over a socket. Each is
 * measured from the moment it was due, answered or not, so that a stall counts for all operations
 * that were due in it.
 */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { raisePriority, serve } from "../../harness/child.js";
import { type BenchAccount, type GatewayAddress, signIn } from "../../harness/http.js";
import { median } from "../../harness/report.js";
import { signatureOf } from "../../harness/wire.js";
import type { TraderPath } from "../attack.js";
import { RestPath, SocketPath, type TradingPath } from "./trading-path.js";
import type { Measured } from "./verdict.js";

const GAP_MS = 20;
/** How long the last operations are awaited. */
const PATIENCE_MS = 5_000;
/** Far below the market: rests until it is canceled. */
const RESTING_PRICE = 40_000;

class Trader {
  private nonce = 1;
  private readonly resting: string[] = [];
  private readonly key: KeyObject;

  constructor(
    private readonly address: GatewayAddress,
    private readonly account: BenchAccount,
  ) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  async open(path: TraderPath): Promise<TradingPath> {
    const { token } = this.account;
    if (path === "rest") return new RestPath(this.address, token);
    return SocketPath.open(this.address, token);
  }

  /** Resolves with the status. */
  async operate(path: TradingPath, turn: number): Promise<string> {
    const orderId = turn % 3 === 1 ? this.resting.shift() : undefined;
    if (orderId !== undefined) return (await path.cancel(orderId)).status;
    const body = this.order(turn % 3 === 0);
    const { status, orderId: placed } = await path.order(body, signatureOf(this.key, body));
    if (placed !== undefined && turn % 3 === 0) this.resting.push(placed);
    return status;
  }

  private order(rests: boolean): string {
    const nonce = this.nonce++;
    const side = rests || nonce % 4 < 2 ? "long" : "short";
    const type = rests ? `"limit","price":${RESTING_PRICE}` : '"market"';
    return `{"symbol":"BTCUSD","side":"${side}","type":${type},"margin":2,"leverage":5,"nonce":${nonce}}`;
  }
}

/** One measurement: operations until `end`. */
class Turn {
  private readonly startedMs = performance.now();
  private readonly latenciesMs: number[] = [];
  private readonly refused: Record<string, number> = {};
  /** By operation, when it was due. */
  private readonly inFlight = new Map<number, number>();
  private isEnding = false;
  private readonly done: Promise<void>;

  constructor(
    private readonly trader: Trader,
    private readonly path: TradingPath,
  ) {
    this.done = this.run();
  }

  async end(): Promise<Measured> {
    this.isEnding = true;
    await this.done;
    const untilMs = performance.now() + PATIENCE_MS;
    while (this.inFlight.size > 0 && performance.now() < untilMs) await sleep(2);
    const nowMs = performance.now();
    const unanswered = this.inFlight.size;
    const latenciesMs = [...this.latenciesMs];
    for (const dueMs of this.inFlight.values()) latenciesMs.push(nowMs - dueMs);
    this.inFlight.clear();
    this.path.close();
    const [medianMs, maxMs] = [median(latenciesMs), Math.max(0, ...latenciesMs)];
    return { medianMs, maxMs, operations: latenciesMs.length, unanswered, refused: this.refused };
  }

  private async run(): Promise<void> {
    for (let turn = 0; !this.isEnding; turn++) {
      const dueMs = this.startedMs + turn * GAP_MS;
      await sleep(Math.max(0, dueMs - performance.now()));
      this.inFlight.set(turn, dueMs);
      void this.operate(turn, dueMs);
    }
  }

  private async operate(turn: number, dueMs: number): Promise<void> {
    const status = await this.trader.operate(this.path, turn).catch((lost: Error) => lost.message);
    if (!this.inFlight.delete(turn)) return;
    this.latenciesMs.push(performance.now() - dueMs);
    if (status !== "200") this.refused[status] = (this.refused[status] ?? 0) + 1;
  }
}

function newHandlers() {
  let trader: Trader | undefined;
  let turn: Turn | undefined;
  return {
    signIn: async (port: number): Promise<void> => {
      trader = new Trader({ port }, await signIn({ port }));
    },
    begin: async (path: TraderPath): Promise<void> => {
      if (trader === undefined) throw new Error("the trader has not signed in");
      turn = new Turn(trader, await trader.open(path));
    },
    end: (): Promise<Measured> => {
      if (turn === undefined) throw new Error("no measurement was begun");
      return turn.end();
    },
  };
}
export type TraderHandlers = ReturnType<typeof newHandlers>;

raisePriority();
serve(newHandlers());
