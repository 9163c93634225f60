/** A server that takes signed orders, and the loads that can be put on it: each order a new nonce. */
import { watchingPace } from "../pace/machine-pace.js";
import { undisturbed } from "../pace/undisturbed.js";
import type { LoadPlan, LoadResult, OrdersOf } from "./load.js";
import { runLoad } from "./processes.js";
import { type SignedIn, signIn } from "./sign-in.js";

export const CONNECTIONS = 16;
/** Idle ones enough that a paced order never waits for another's answer, short of a stall. */
const PACED_CONNECTIONS = 64;
const PRICE = 65_000;
const SOCKET_LOAD = new URL("../streams/socket-load.js", import.meta.url);

export interface PacedResult extends LoadResult {
  /** The places of the orders that the machine itself did not slow down. */
  readonly undisturbed: readonly number[];
  /** Of the time, how much the machine ran slowly. */
  readonly slowShare: number;
}

/** Of several turns, the times of all orders that the machine left alone. */
export function undisturbedMs(
  turns: readonly PacedResult[],
  part: "sentLatenciesMs" | "dueLatenciesMs",
): number[] {
  return turns.flatMap((turn) => turn.undisturbed.map((at) => turn[part][at]!));
}

export class OrderPath {
  private nonce = 1;

  constructor(
    readonly port: number,
    private readonly traders: OrdersOf["traders"],
  ) {}

  static async signedIn(origin: string): Promise<OrderPath> {
    const traders: SignedIn[] = [];
    for (let i = 0; i < CONNECTIONS; i++) traders.push(await signIn(origin));
    return new OrderPath(Number(new URL(origin).port), traders);
  }

  /** As many orders at once as there are connections. */
  saturate(count: number): Promise<LoadResult> {
    return runLoad(this.plan(count, 0, CONNECTIONS));
  }

  /** At a fixed rate, whatever the answers. */
  async paced(count: number, rate: number): Promise<PacedResult> {
    const { result, pace } = await watchingPace(() =>
      runLoad(this.plan(count, rate, PACED_CONNECTIONS)),
    );
    const kept = undisturbed({ ...result, gapMs: 1_000 / rate }, pace.slow);
    return { ...result, undisturbed: kept, slowShare: pace.slowShare };
  }

  overSockets(count: number): Promise<LoadResult> {
    return runLoad(this.plan(count, 0, CONNECTIONS), SOCKET_LOAD);
  }

  private plan(count: number, rate: number, connections: number): LoadPlan {
    const warmUp = Math.floor(count / 5);
    return { port: this.port, connections, count, rate, warmUp, send: this.orders(count) };
  }

  private orders(count: number): OrdersOf {
    const firstNonce = this.nonce;
    const { traders } = this;
    this.nonce += Math.ceil(count / traders.length);
    return { price: PRICE, firstNonce, traders };
  }
}
