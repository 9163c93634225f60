/**
 * The honest trader, a process that runs for the whole table: 50 operations a second, in turn a
 * resting limit order, its cancel and a small market order, over keep-alive REST or over a socket.
 * Each is measured from the moment it was due, answered or not, so that a stall counts for all that
 * were due in it. Every tenth REST operation opens a connection of its own, as a trader who has just
 * arrived does.
 */
import { createPrivateKey } from "node:crypto";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type SignedIn, signIn } from "../../orders/sign-in.js";
import { orderRequest, signature } from "../../orders/wire.js";
import type { TraderPath } from "../attack.js";
import { RestPath, SocketPath, type TradingPath } from "./trading-path.js";

export type TraderRequest =
  | { readonly do: "sign-in"; readonly origin: string }
  | { readonly do: "begin"; readonly path: TraderPath }
  | { readonly do: "end" };

export interface Measured {
  /** From due to answered, in milliseconds; of one without an answer, until the trader gave up. */
  readonly latenciesMs: readonly number[];
  readonly unanswered: number;
  /** Operations refused or lost, by reason. */
  readonly refused: Readonly<Record<string, number>>;
}

const PER_SECOND = 50;
const GAP_MS = 1_000 / PER_SECOND;
/** How long the last operations are waited for. */
const PATIENCE_MS = 5_000;
/** Far below the market: rests until it is canceled. */
const RESTING_PRICE = 40_000;
const HIGH_PRIORITY = -10;

class Trader {
  private nonce = 1;
  private readonly resting: string[] = [];
  private readonly key;

  constructor(
    readonly origin: string,
    private readonly account: SignedIn,
  ) {
    this.key = createPrivateKey(account.privateKeyPem);
  }

  open(path: TraderPath): Promise<TradingPath> {
    const port = Number(new URL(this.origin).port);
    const { token } = this.account;
    return path === "rest" ? RestPath.start(port, token) : SocketPath.start(port, token);
  }

  /** The next operation; resolves with its status. */
  async operate(path: TradingPath, turn: number): Promise<string> {
    const orderId = turn % 3 === 1 ? this.resting.shift() : undefined;
    if (orderId !== undefined) return (await path.cancel(orderId)).status;
    const body = this.order(turn % 3 === 0);
    const { status, orderId: placed } = await path.order(body, signature(this.key, body), () =>
      orderRequest({ token: this.account.token, key: this.key }, body),
    );
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
    for (const dueMs of this.inFlight.values()) this.latenciesMs.push(nowMs - dueMs);
    const unanswered = this.inFlight.size;
    this.path.close();
    return { latenciesMs: this.latenciesMs, unanswered, refused: this.refused };
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

/** A trader elsewhere would not wait for this machine's cores. */
function preferThisProcess(): void {
  try {
    setPriority(HIGH_PRIORITY);
  } catch {
    // Only some users may; the trader then waits for a core like everybody else, in both runs.
  }
}

class TraderProcess {
  private trader: Trader | undefined;
  private turn: Turn | undefined;

  async answer(request: TraderRequest): Promise<unknown> {
    if (request.do === "end") return this.turn?.end();
    if (request.do === "sign-in") {
      this.trader = new Trader(request.origin, await signIn(request.origin));
      return "done";
    }
    if (this.trader === undefined) throw new Error("the trader has not signed in");
    this.turn = new Turn(this.trader, await this.trader.open(request.path));
    return "done";
  }
}

preferThisProcess();
const trader = new TraderProcess();
// The process that started this one is gone.
process.once("disconnect", () => process.exit());
process.on("message", (request: TraderRequest) => {
  void trader.answer(request).then((result) => process.send?.(result));
});
