/**
 * Triggered closePosition orders, from the sentences of the interface alone: "triggering fixes its lots, which
 * only shrink; it never trades lots that were opened after it had triggered".
 */
import type { VenueEvent } from "../../events/event-table.js";
import { placeKey } from "./exit-ledger.js";
import type { PlacedOrder } from "./placed-orders.js";

interface Triggered {
  readonly place: string;
  readonly side: number;
  lots: number;
}

/** Positions and the lots that triggered orders still have, as the events tell them. */
export class CloseLedger {
  readonly triggered = new Map<number, Triggered>();
  readonly faults: string[] = [];
  private readonly held = new Map<string, number>();

  follow(events: readonly VenueEvent[], placed: ReadonlyMap<number, PlacedOrder>): void {
    this.faults.length = 0;
    for (const event of events) {
      if (event.kind === "StopTriggered") this.trigger(placed.get(event.orderId));
      if (event.kind === "OrderEnded") this.triggered.delete(event.orderId);
      if (event.kind === "CashSettled") this.move(event.account, event.market, -event.lots);
      if (event.kind !== "Traded") continue;
      const { market, takerSide, lots } = event;
      const own = this.triggered.get(event.takerOrderId);
      if (own !== undefined) {
        own.lots -= lots;
        if (own.lots < 0)
          this.faults.push(`order ${event.takerOrderId}: ${-own.lots} lots too many`);
      }
      this.move(event.makerAccount, market, -takerSide * lots);
      this.move(event.takerAccount, market, takerSide * lots);
    }
  }

  private trigger(order: PlacedOrder | undefined): void {
    if (order === undefined || !order.closePosition) return;
    const place = placeKey(order.account, order.market);
    const held = this.held.get(place) ?? 0;
    const lots = held * order.side < 0 ? Math.abs(held) : 0;
    this.triggered.set(order.id, { place, side: order.side, lots });
  }

  private move(account: number, market: number, lots: number): void {
    if (account === 0) return;
    const place = placeKey(account, market);
    const held = (this.held.get(place) ?? 0) + lots;
    this.held.set(place, held);
    for (const order of this.triggered.values()) {
      if (order.place !== place) continue;
      order.lots = Math.min(order.lots, held * order.side < 0 ? Math.abs(held) : 0);
    }
  }
}
