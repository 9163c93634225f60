/** What the log says about each order: as it was placed, and as it was amended since. */
import type { Command } from "../../commands.js";
import type { VenueEvent } from "../../events/event-table.js";
import { isExit } from "./exit-ledger.js";

export interface SessionCaps {
  /** 0: no cap. */
  readonly maxNotionalMicros: number;
  readonly maxOrderNotionalMicros: number;
}

export interface PlacedOrder {
  readonly id: number;
  readonly account: number;
  readonly market: number;
  readonly side: number;
  readonly type: number;
  readonly priceTicks: number;
  /** In all, filled ones included. */
  readonly lots: number;
  readonly marginMicros: number;
  readonly leverage: number;
  readonly reduceOnly: boolean;
  readonly session: number;
  readonly caps: SessionCaps;
  /** 0: sized by money. */
  readonly sizeLots: number;
  readonly timeInForce: number;
  /** 0: never. */
  readonly expiresAtMs: number;
  readonly isTakeProfit: boolean;
  /** 0: none. */
  readonly limitTicks: number;
  readonly closePosition: boolean;
  readonly clientOrderId: string;
  readonly isAmended: boolean;
}

const NO_CAPS: SessionCaps = { maxNotionalMicros: 0, maxOrderNotionalMicros: 0 };

export class PlacedOrders extends Map<number, PlacedOrder> {
  /** Lots of each order that have filled. */
  readonly filled = new Map<number, number>();

  follow(command: Command, event: VenueEvent, caps: ReadonlyMap<number, SessionCaps>): void {
    if (event.kind === "OrderPlaced") {
      const { orderId, reduceOnly, kind: _, nonce: __, postOnly: ___, ...rest } = event;
      this.set(orderId, {
        ...rest,
        id: orderId,
        reduceOnly: reduceOnly === 1,
        caps: caps.get(event.session) ?? NO_CAPS,
        sizeLots: 0,
        timeInForce: 0,
        expiresAtMs: 0,
        isTakeProfit: false,
        limitTicks: 0,
        closePosition: false,
        clientOrderId: "",
        isAmended: false,
      });
    }
    if (event.kind === "OrderExtended") {
      const { sizeLots, timeInForce, expiresAtMs, limitTicks } = event;
      const isOwn = command.kind === "PlaceOrder" && !isExit(event.orderId);
      const extras = isOwn ? command.extras : undefined;
      this.change(event.orderId, {
        ...{ sizeLots, timeInForce, expiresAtMs, limitTicks },
        isTakeProfit: event.trigger === 1,
        closePosition: event.closePosition === 1,
        clientOrderId: extras?.clientOrderId ?? "",
      });
    }
    if (event.kind === "OrderAmended") {
      const { priceTicks, lots, limitTicks, expiresAtMs, session } = event;
      const own = caps.get(session) ?? NO_CAPS;
      const changes = { priceTicks, lots, limitTicks, expiresAtMs, caps: own };
      this.change(event.orderId, { ...changes, isAmended: true });
    }
    if (event.kind === "Traded") {
      for (const id of [event.makerOrderId, event.takerOrderId]) {
        if (id > 0) this.filled.set(id, (this.filled.get(id) ?? 0) + event.lots);
      }
    }
  }

  private change(id: number, changes: Partial<PlacedOrder>): void {
    const order = this.get(id);
    if (order !== undefined) this.set(id, { ...order, ...changes });
  }
}
