/**
 * A venue as full as it gets: an account for every position, a book of resting orders, stops behind
 * the same line, and then what happens to all of them: ticks, stops that are reached and wait, funding,
 * and a fall that makes many positions due.
 */
import { type Command, Engine, LONG, SHORT, STOP_ORDER } from "@perpgate/engine";
import { joining } from "@perpgate/engine/testing";
import { Random } from "@perpgate/protocol/random";
import { INDEX_TICKS, openingCommands, order, SEED, sessionOf } from "./venue-flow.js";

const DOLLAR = 1_000_000;
const HOUR_MS = 3_600_000;
const WRITER = "1".repeat(32);

export interface CrowdSize {
  readonly accounts: number;
  readonly orders: number;
  readonly stops: number;
}

type Apply = (engine: Engine, command: Command) => void;

export class EngineCrowd {
  readonly engine = new Engine();
  private readonly random = new Random(SEED, "crowd");
  private readonly nonces: Uint32Array;
  /** Of the writer's last batch; −1: it has not joined. */
  private counter = -1;

  constructor(
    readonly size: CrowdSize,
    private readonly apply: Apply,
  ) {
    this.nonces = new Uint32Array(size.accounts + 1);
  }

  signIn(): void {
    for (const command of openingCommands(this.size.accounts)) this.apply(this.engine, command);
  }

  /** Half of the accounts long, half short, with 50 to 150 dollars at leverages from 1 to 20. */
  openPositions(): void {
    for (let account = 1; account < this.size.accounts; account += 2) {
      const leverage = 1 + this.random.below(20);
      const dollars = 50 + this.random.below(101);
      this.order(account, SHORT, INDEX_TICKS, leverage, dollars);
      this.order(account + 1, LONG, INDEX_TICKS, leverage, dollars);
    }
  }

  /** Orders on 100,000 prices of both sides, most of them near the touch. */
  rest(): void {
    for (let i = 0; i < this.size.orders; i++) {
      const isBid = i % 2 === 0;
      const depth = 1 + Math.floor(50_000 * this.random.next() ** 2);
      const account = 1 + this.random.below(this.size.accounts);
      const price = isBid ? INDEX_TICKS - depth : INDEX_TICKS + depth;
      this.order(account, isBid ? LONG : SHORT, price, 10, 2 + this.random.below(10));
    }
  }

  /** Market orders of thousands of dollars, each of which meets as many makers as one may. */
  sweep(): void {
    for (let account = 1; account <= 10; account++) {
      this.order(account, account % 2 === 0 ? LONG : SHORT, 0, 50, 3_500);
    }
  }

  placeStops(): void {
    for (let i = 0; i < this.size.stops; i++) {
      const account = 1 + this.random.below(this.size.accounts);
      const price = INDEX_TICKS - 500 - this.random.below(3_000);
      this.order(account, SHORT, price, 1, 2 + this.random.below(50), STOP_ORDER);
    }
  }

  /** Ticks, each after an index update that moves the mark by a few ticks. */
  ticks(count: number, indexTicks: number): void {
    for (let i = 0; i < count; i++) {
      for (const { number } of this.engine.state.markets) {
        this.index(number, indexTicks + this.random.below(9));
      }
      this.send({ kind: "Tick", slot: this.engine.state.lastTickMs / 200 + 1 });
    }
  }

  /** The mark falls through all stops and turns back while most of them wait. */
  reachStops(): void {
    this.ticks(3, INDEX_TICKS - 4_000);
    this.ticks(100, INDEX_TICKS);
  }

  /** The hour ends after an hour of premium samples. */
  fund(): void {
    const { engine } = this;
    const next = engine.state.totals.nextFundingMs;
    if (this.counter < 0) this.send(joining(WRITER, "bench", engine.state.timeMs));
    this.send({ kind: "AskTime", stampMs: next - 1_000 });
    this.ticks(10, INDEX_TICKS + 200);
    if (engine.state.totals.nextFundingMs < next + HOUR_MS)
      throw new Error("no funding hour ended");
  }

  /** Steps of 3 % down: thousands of positions are due in each of many ticks. */
  crash(): void {
    for (let step = 1; step <= 4; step++) this.ticks(25, Math.floor(INDEX_TICKS * 0.97 ** step));
  }

  /** From the join on, each command is a batch of the one writer. */
  private send(command: Command): void {
    if (command.kind === "WriterJoined" || this.counter >= 0) {
      this.engine.acceptBatch(WRITER, ++this.counter, [command]);
    }
    this.apply(this.engine, command);
  }

  private index(market: number, indexTicks: number): void {
    const stampMs = this.engine.state.timeMs;
    const slot = this.engine.state.lastTickMs / 200 + 1;
    this.send({ kind: "UpdateIndex", stampMs, market, indexTicks, slot });
  }

  private order(
    account: number,
    side: typeof LONG | typeof SHORT,
    price: number,
    leverage: number,
    dollars: number,
    type?: typeof STOP_ORDER,
  ): void {
    const nonce = this.nonces[account]! + 1;
    this.nonces[account] = nonce;
    const command = order(sessionOf(account), nonce, side, price, dollars * DOLLAR, leverage);
    this.apply(this.engine, type === undefined ? command : { ...command, type });
  }
}
