/**
 * What a fill does to one account: a closing part first, then an opening part. `FillPlan.plan`
 * computes the amounts and how many lots the account can take (docs/engine.md, "How many lots can
 * an account fill"); `apply` books them. Planning changes nothing.
 */
import {
  assertSafe,
  divCeil,
  mulDivCeil,
  mulDivFloor,
  mulExact,
} from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { PPM } from "../config.js";
import { END } from "../reasons.js";
import { MARKET, type Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";

/** |lots| if the position is opposite to the side, else 0. */
export function closable(market: Market, row: number, side: Side): number {
  const lots = market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  return lots * side < 0 ? Math.abs(lots) : 0;
}

/** Cost that leaves with `lots` of a position: up for longs, down for shorts, both against it. */
export function removedCost(positionLots: number, costMicros: number, lots: number): number {
  return positionLots > 0
    ? mulDivCeil(costMicros, lots, positionLots)
    : mulDivFloor(-costMicros, lots, -positionLots);
}

/** Margin that leaves with `lots` of a position, rounded down. */
export function releasedMargin(positionLots: number, marginMicros: number, lots: number): number {
  return mulDivFloor(marginMicros, lots, Math.abs(positionLots));
}

export function equityOf(market: Market, row: number): number {
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS;
  const marked = mulExact(data[at + POSITION.LOTS]!, market.mark * market.microsPerTickLot);
  return assertSafe(assertSafe(marked - data[at + POSITION.COST]!) + data[at + POSITION.MARGIN]!);
}

export function maintenanceOf(market: Market, row: number): number {
  const lots = market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  return market.maintenance.of(mulExact(Math.abs(lots), market.mark * market.microsPerTickLot));
}

/** Moves a position's lots, and the market's sums with them. The row is touched already. */
export function shiftLots(market: Market, row: number, delta: number): void {
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS + POSITION.LOTS;
  const before = data[at]!;
  const after = before + delta;
  data[at] = after;
  market.set(MARKET.SUM_LOTS, market.get(MARKET.SUM_LOTS) + delta);
  const longs = Math.max(0, after) - Math.max(0, before);
  if (longs !== 0) market.set(MARKET.LONG_LOTS, market.get(MARKET.LONG_LOTS) + longs);
}

export class FillPlan {
  /** Lots that the account can fill, and why not all it was asked for. */
  lots = 0;
  reason = 0;
  pnlMicros = 0;
  feeMicros = 0;
  private closing = 0;
  private opening = 0;
  private releasedMicros = 0;
  private removedMicros = 0;
  private openingMarginMicros = 0;
  private openingFeeMicros = 0;
  // What `fits` needs, kept in fields because a closure would be allocated for every fill.
  private unit = 0;
  private markUnit = 0;
  private feePpm = 0;
  private leverage = 1;
  private heldLots = 0;
  private heldCost = 0;
  private heldMargin = 0;

  /** `extraMicros` is what the filling order has in reserve. */
  plan(
    s: VenueState,
    market: Market,
    row: number,
    side: Side,
    wanted: number,
    ticks: number,
    feePpm: number,
    leverage: number,
    extraMicros: number,
  ): number {
    const data = market.positions.table.data;
    const at = row * POSITION_WORDS;
    const lots = data[at + POSITION.LOTS]!;
    this.unit = ticks * market.microsPerTickLot;
    this.markUnit = market.mark * market.microsPerTickLot;
    this.feePpm = feePpm;
    this.leverage = leverage;
    const closing = lots * side < 0 ? Math.min(wanted, Math.abs(lots)) : 0;
    let funds = s.wallet(data[at + POSITION.ACCOUNT]!) + extraMicros;
    this.reason = END.none;
    this.closing = closing;
    this.opening = 0;
    this.pnlMicros = 0;
    this.feeMicros = 0;
    if (closing > 0) {
      this.planClosing(data[at + POSITION.COST]!, data[at + POSITION.MARGIN]!, lots);
      const left = this.releasedMicros + this.pnlMicros - this.feeMicros;
      if (left < 0) {
        this.reason = END.bankruptcy;
        this.lots = 0;
        return 0;
      }
      funds += left;
    }
    if (wanted > closing) {
      this.planOpening(market, at, side, wanted - closing, funds);
      this.feeMicros += this.openingFeeMicros;
    }
    this.lots = closing + this.opening;
    return this.lots;
  }

  /** Books the planned fill. The order's reserve must be back in the wallet. */
  apply(s: VenueState, market: Market, row: number, side: Side, ticks: number): void {
    const { positions } = market;
    positions.table.touch(row);
    const data = positions.table.data;
    const at = row * POSITION_WORDS;
    const { closing, opening } = this;
    let toWallet = 0;
    let margin = 0;
    let cost = 0;
    if (closing > 0) {
      margin -= this.releasedMicros;
      cost += side * this.removedMicros;
      toWallet += this.releasedMicros + this.pnlMicros;
      data[at + POSITION.REALIZED] = data[at + POSITION.REALIZED]! + this.pnlMicros;
    }
    if (opening > 0) {
      margin += this.openingMarginMicros;
      cost += side * opening * ticks * market.microsPerTickLot;
      toWallet -= this.openingMarginMicros;
    }
    shiftLots(market, row, side * (closing + opening));
    data[at + POSITION.COST] = data[at + POSITION.COST]! + cost;
    data[at + POSITION.MARGIN] = data[at + POSITION.MARGIN]! + margin;
    const g = s.globals.data;
    g[GLOBAL.MARGINS] = g[GLOBAL.MARGINS]! + margin;
    g[GLOBAL.COST] = g[GLOBAL.COST]! + cost;
    g[GLOBAL.FEES] = g[GLOBAL.FEES]! + this.feeMicros;
    s.addWallet(data[at + POSITION.ACCOUNT]!, toWallet - this.feeMicros);
  }

  private planClosing(cost: number, margin: number, lots: number): void {
    const held = Math.abs(lots);
    const { closing } = this;
    const proceeds = mulExact(closing, this.unit);
    // The whole position is the common case and needs no division.
    this.releasedMicros = closing === held ? margin : releasedMargin(lots, margin, closing);
    this.removedMicros = closing === held ? Math.abs(cost) : removedCost(lots, cost, closing);
    this.pnlMicros = lots > 0 ? proceeds - this.removedMicros : this.removedMicros - proceeds;
    this.feeMicros = mulDivCeil(proceeds, this.feePpm, PPM);
  }

  private planOpening(market: Market, at: number, side: Side, wanted: number, funds: number): void {
    const data = market.positions.table.data;
    const flips = this.closing > 0;
    this.heldLots = flips ? 0 : data[at + POSITION.LOTS]!;
    this.heldCost = flips ? 0 : data[at + POSITION.COST]!;
    this.heldMargin = flips ? 0 : data[at + POSITION.MARGIN]!;
    const room = Math.floor(market.maintenance.topMicros / this.markUnit) - Math.abs(this.heldLots);
    let opening = wanted;
    if (opening > room) {
      this.reason = END.position_limit;
      opening = Math.max(0, room);
    }
    if (opening > 0 && !this.fits(market, side, opening, funds)) {
      this.reason = END.unfunded;
      let low = 0;
      let high = opening;
      while (high - low > 1) {
        const middle = low + Math.floor((high - low) / 2);
        if (this.fits(market, side, middle, funds)) low = middle;
        else high = middle;
      }
      opening = low;
      if (low > 0) this.fits(market, side, low, funds);
    }
    if (opening === 0) {
      this.openingMarginMicros = 0;
      this.openingFeeMicros = 0;
    }
    this.opening = opening;
  }

  /** Whether that many opening lots are funded and leave equity above maintenance. */
  private fits(market: Market, side: Side, lots: number, funds: number): boolean {
    const notional = mulExact(lots, this.unit);
    const lossPerLot = side * (this.unit - this.markUnit);
    this.openingMarginMicros =
      divCeil(notional, this.leverage) + (lossPerLot > 0 ? lossPerLot * lots : 0);
    this.openingFeeMicros = mulDivCeil(notional, this.feePpm, PPM);
    if (this.openingMarginMicros + this.openingFeeMicros > funds) return false;
    const after = this.heldLots + side * lots;
    const marked = mulExact(after, this.markUnit);
    const cost = this.heldCost + side * notional;
    const equity = this.heldMargin + this.openingMarginMicros + marked - cost;
    return equity > market.maintenance.of(Math.abs(marked));
  }
}
