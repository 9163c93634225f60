/**
 * What the terms of an order leave for its fills: the notional that may still open, where the margin of
 * an order with a size bounds it, and the notional that may still be filled at all, where a cap of its
 * session does. Lots that close are never held back.
 */
import { divCeil, divFloor } from "@perpgate/protocol/integers";
import { END } from "../reasons.js";
import type { OrderStore } from "../state/orders.js";

export class FillBound {
  /** Whether the order has a size, or a cap without one. */
  isSet = false;
  /** Why `lots` returned fewer than were wanted. */
  reason = 0;
  private openingMicros = 0;
  private fillMicros = 0;
  /** The leverage if each fill rounds its margin up, 1 if only their sum counts. */
  private roundTo = 1;

  /** `maxOrderNotionalMicros` 0: no cap. `marginMicros` 0: no margin. */
  set(
    marginMicros: number,
    leverage: number,
    openedMicros: number,
    maxOrderNotionalMicros: number,
    filledMicros: number,
    roundsEachFill: boolean,
  ): void {
    this.isSet = true;
    this.openingMicros =
      marginMicros > 0 ? marginMicros * leverage - openedMicros : Number.POSITIVE_INFINITY;
    this.fillMicros =
      maxOrderNotionalMicros > 0 ? maxOrderNotionalMicros - filledMicros : Number.POSITIVE_INFINITY;
    this.roundTo = roundsEachFill ? leverage : 1;
  }

  /** The bound of an open order with extras. */
  setOf(orders: OrderStore, order: number, extrasRow: number, roundsEachFill: boolean): void {
    const { extras } = orders;
    if (!extras.isBounded(extrasRow)) {
      this.isSet = false;
      return;
    }
    this.set(
      extras.sizeLots(extrasRow) > 0 ? orders.margin(order) : 0,
      orders.leverage(order),
      extras.openedMicros(extrasRow),
      extras.maxOrderNotional(extrasRow),
      extras.filledMicros(extrasRow),
      roundsEachFill,
    );
  }

  /** Of the wanted lots, of which `closable` would close: those that may fill at `unit` a lot. */
  lots(wanted: number, closable: number, unit: number): number {
    this.reason = END.none;
    let lots = wanted;
    const withinCap = Math.max(closable, divFloor(this.fillMicros, unit));
    if (lots > withinCap) {
      lots = withinCap;
      this.reason = END.session_order_cap_exceeded;
    }
    const withinMargin = closable + divFloor(this.openingMicros, unit);
    if (lots > withinMargin) {
      lots = withinMargin;
      this.reason = END.margin_spent;
    }
    return lots;
  }

  /** Counts a fill and the part of it that opened, in micros. */
  spend(filledMicros: number, openedMicros: number): void {
    this.fillMicros -= filledMicros;
    this.openingMicros -= divCeil(openedMicros, this.roundTo) * this.roundTo;
  }
}
