/**
 * The fills of a command, worked out again from its `Traded` events and the positions before it:
 * how many lots each account closed and opened, and what the pages say that it pays and receives.
 */
import type { VenueConfig } from "../../config.js";
import {
  BACKSTOP_ACCOUNT,
  type EventOf,
  TRADE_ADL,
  TRADE_LIQUIDATION,
  TRADE_ORDER,
  type VenueEvent,
} from "../../events/event-table.js";
import { abs, ceilDiv, floorDiv, max, min } from "./arithmetic.js";
import type { PlacedOrder } from "./placed-orders.js";
import type { View } from "./view.js";

/** A position while the fills of a command are replayed. */
export interface Running {
  lots: bigint;
  cost: bigint;
  margin: bigint;
}

/** One account's part in a trade. */
export interface Fill {
  readonly trade: EventOf<"Traded">;
  readonly account: number;
  /** Undefined where the account did not order the trade: liquidated, deleveraged, the backstop. */
  readonly order: PlacedOrder | undefined;
  readonly isTaker: boolean;
  readonly side: bigint;
  readonly closed: bigint;
  readonly opened: bigint;
  readonly before: Running;
  readonly after: Running;
  /** What closing gives to the wallet, before the fee. */
  readonly proceeds: bigint;
  readonly fee: bigint;
}

export function keyOf(account: number, market: number): number {
  return account * 64 + market;
}

export class FillReplay {
  readonly fills: Fill[] = [];
  readonly running = new Map<number, Running>();

  constructor(
    private readonly config: VenueConfig,
    private readonly before: View,
    private readonly after: View,
    private readonly placed: ReadonlyMap<number, PlacedOrder>,
  ) {}

  replay(events: readonly VenueEvent[]): this {
    for (const event of events) {
      if (event.kind !== "Traded") continue;
      this.add(event, true);
      this.add(event, false);
    }
    return this;
  }

  /** The position of an account so far; funding is settled before the first fill. */
  of(account: number, market: number): Running {
    const key = keyOf(account, market);
    const known = this.running.get(key);
    if (known !== undefined) return known;
    const created = this.start(account, market);
    this.running.set(key, created);
    return created;
  }

  private start(account: number, market: number): Running {
    const was = this.before.markets[market]!;
    if (account === BACKSTOP_ACCOUNT) {
      return { lots: BigInt(was.backstopLots), cost: BigInt(was.backstopCost), margin: 0n };
    }
    const position = was.positions.get(account);
    if (position === undefined) return { lots: 0n, cost: 0n, margin: 0n };
    const now = this.after.markets[market]!.positions.get(account)!;
    const paid = BigInt(now.funding) - BigInt(position.funding);
    const margin = max(0n, BigInt(position.margin) - paid);
    return { lots: BigInt(position.lots), cost: BigInt(position.cost), margin };
  }

  private add(trade: EventOf<"Traded">, isTaker: boolean): void {
    const account = isTaker ? trade.takerAccount : trade.makerAccount;
    const orderId = isTaker ? trade.takerOrderId : trade.makerOrderId;
    const isOwn = orderId > 0 && trade.tradeKind !== TRADE_ADL;
    const order = isOwn ? this.placed.get(orderId) : undefined;
    const side = BigInt(isTaker ? trade.takerSide : -trade.takerSide);
    const at = this.of(account, trade.market);
    const before = { ...at };
    const lots = BigInt(trade.lots);
    const value = BigInt(trade.priceTicks) * this.unit(trade.market);
    const closed = at.lots * side < 0n ? min(lots, abs(at.lots)) : 0n;
    const opened = lots - closed;
    let proceeds = 0n;
    if (closed > 0n) {
      const removed = removedCost(at, closed);
      const released = floorDiv(at.margin * closed, abs(at.lots));
      proceeds = released - side * closed * value - removed;
      at.lots += side * closed;
      at.cost -= removed;
      // A liquidation releases nothing until it ends; only its lots and cost are replayed.
      if (isOwn) at.margin -= released;
    }
    if (opened > 0n) {
      at.lots += side * opened;
      at.cost += side * opened * value;
      if (order !== undefined) {
        const mark = BigInt(this.after.markets[trade.market]!.mark) * this.unit(trade.market);
        const loss = max(0n, side * (value - mark) * opened);
        at.margin += ceilDiv(opened * value, BigInt(order.leverage)) + loss;
      }
    }
    const fee = BigInt(isTaker ? trade.takerFeeMicros : trade.makerFeeMicros);
    const after = { ...at };
    this.fills.push({
      trade,
      account,
      order,
      isTaker,
      side,
      closed,
      opened,
      before,
      after,
      proceeds,
      fee,
    });
  }

  private unit(market: number): bigint {
    return BigInt(this.config.markets[market]!.microsPerTickLot);
  }
}

/** "removed cost up for longs and down for shorts": in both cases against the account. */
function removedCost({ lots, cost }: Running, closed: bigint): bigint {
  if (closed === abs(lots)) return cost;
  return lots > 0n ? ceilDiv(cost * closed, lots) : -floorDiv(-cost * closed, -lots);
}

/** Whether the account's side of the trade was forced on it. */
export function isForced({ trade, isTaker, account }: Fill): boolean {
  if (trade.tradeKind === TRADE_ORDER) return false;
  if (trade.tradeKind === TRADE_LIQUIDATION) return isTaker;
  return account === BACKSTOP_ACCOUNT || trade.tradeKind === TRADE_ADL || !hasOrder(trade, isTaker);
}

function hasOrder(trade: EventOf<"Traded">, isTaker: boolean): boolean {
  return (isTaker ? trade.takerOrderId : trade.makerOrderId) > 0;
}
