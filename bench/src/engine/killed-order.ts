/**
 * A fill-or-kill order that takes from 100 makers and is undone for want of one lot, in venues of any
 * size: what it costs must not depend on the orders that it does not meet.
 */
import { type Engine, FILL_OR_KILL, LONG, type PlaceOrder, SHORT } from "@perpgate/engine";
import { PLAIN_EXTRAS } from "@perpgate/engine/testing";
import { Crowd } from "./crowd.js";
import { INDEX_TICKS, order, sessionOf } from "./venue-flow.js";

export const KILLED_MAKERS = 100;
const MAKER_LOTS = 15;
/** Far above the nonces that the crowd has used. */
const FIRST_NONCE = 1_000_000;

export class KilledOrder {
  private readonly engine: Engine;
  private nonce = FIRST_NONCE;

  constructor(accounts: number, orders: number, seed: number) {
    const crowd = new Crowd({ accounts, orders, stops: 0 }, (e, command) => e.apply(command), seed);
    crowd.signIn();
    crowd.rest();
    this.engine = crowd.engine;
    // Better than all asks of the crowd, above its bids.
    for (let account = 1; account <= KILLED_MAKERS; account++) {
      const margin = MAKER_LOTS * INDEX_TICKS;
      this.engine.apply(order(sessionOf(account), this.nonce, SHORT, INDEX_TICKS, margin, 1));
    }
  }

  /** Microseconds of one order; it must have been undone. */
  time(): number {
    const { asks } = this.engine.state.markets[0]!;
    const command = this.command();
    const started = performance.now();
    this.engine.apply(command);
    const took = performance.now() - started;
    if (asks.lotsAt(0) !== KILLED_MAKERS * MAKER_LOTS) throw new Error("the order was not undone");
    return took * 1_000;
  }

  private command(): PlaceOrder {
    const session = sessionOf(KILLED_MAKERS + 1);
    const plain = order(session, ++this.nonce, LONG, INDEX_TICKS, 0, 10);
    const sizeLots = KILLED_MAKERS * MAKER_LOTS + 1;
    return { ...plain, extras: { ...PLAIN_EXTRAS, sizeLots, timeInForce: FILL_OR_KILL } };
  }
}
