/**
 * What a fill does to one account: a closing part first, then an opening part. `FillPlan.plan`
 * computes the amounts and how many lots the account can take (docs/engine.md, "How many lots can
 * an account fill") and changes nothing; `apply` books them.
 */
import {
  assertSafe,
  divCeil,
  divFloor,
  mulDivCeil,
  mulDivFloor,
  mulExact,
} from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { PPM } from "../config.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import type { VenueTables } from "../state/venue-tables.js";
import { isAboveLimit } from "./leverage-limit.js";
import { lotsWithinCap } from "./opening.js";
import { fundingOwed } from "./owed-funding.js";

/** |lots| if the position is opposite to the side, else 0. */
export function closable({ positions }: Market, row: number, side: Side): number {
  const lots = positions.lots(row);
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

/** Margin and unrealised PnL, less the funding that is not settled yet. */
export function equityOf(market: Market, row: number): number {
  return equityAt(market, row, market.markUnit);
}

/** The same if a lot were worth that much. */
function equityAt(market: Market, row: number, lotMicros: number): number {
  const { positions } = market;
  const worth = mulExact(positions.lots(row), lotMicros);
  const settled = assertSafe(assertSafe(worth - positions.cost(row)) + positions.margin(row));
  return assertSafe(settled - fundingOwed(market, row));
}

/** Whether a taker could close any of the position at that price: its equity there pays the fee. */
export function canCloseAt(market: Market, row: number, ticks: number): boolean {
  const unit = ticks * market.microsPerTickLot;
  const proceeds = mulExact(Math.abs(market.positions.lots(row)), unit);
  return equityAt(market, row, unit) >= mulDivCeil(proceeds, market.config.takerFeePpm, PPM);
}

export function maintenanceOf(market: Market, row: number): number {
  return market.maintenance.of(market.notional(market.positions.lots(row)));
}

export class FillPlan {
  /** Lots that the account can fill, and why not all that were asked for. */
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
  // The inputs of `fits`, in fields because a closure would be allocated for every fill.
  private unit = 0;
  private markUnit = 0;
  private feePpm = 0;
  private leverage = 1;
  private heldLots = 0;
  private heldCost = 0;
  private heldMargin = 0;

  /**
   * `extraMicros` is the reserve of the filling order, `bar` why its account may not open (none: it
   * may), `maxNotionalMicros` the cap of its session on all positions (0: none). The
   * position's funding is settled.
   */
  plan(
    s: VenueTables,
    market: Market,
    row: number,
    side: Side,
    wanted: number,
    ticks: number,
    feePpm: number,
    leverage: number,
    extraMicros: number,
    bar: number,
    maxNotionalMicros: number,
  ): number {
    const { positions } = market;
    const lots = positions.lots(row);
    this.unit = ticks * market.microsPerTickLot;
    this.markUnit = market.markUnit;
    this.feePpm = feePpm;
    this.leverage = leverage;
    const closing = lots * side < 0 ? Math.min(wanted, Math.abs(lots)) : 0;
    let funds = s.wallet(positions.account(row)) + extraMicros;
    this.reason = END.none;
    this.closing = closing;
    this.opening = 0;
    this.pnlMicros = 0;
    this.feeMicros = 0;
    if (closing > 0) {
      this.planClosing(positions.cost(row), positions.margin(row), lots);
      const left = this.releasedMicros + this.pnlMicros - this.feeMicros;
      if (left < 0) {
        this.reason = END.bankruptcy;
        this.lots = 0;
        return 0;
      }
      funds += left;
    }
    if (wanted > closing) {
      const allowed =
        bar === END.none
          ? this.allowedOpening(s, market, row, wanted - closing, maxNotionalMicros)
          : 0;
      if (bar !== END.none) this.reason = bar;
      this.planOpening(market, row, side, allowed, funds);
      this.feeMicros += this.openingFeeMicros;
    }
    this.lots = closing + this.opening;
    return this.lots;
  }

  /** Lots of the planned fill that close. */
  get closingLots(): number {
    return this.closing;
  }

  /** Lots of the planned fill that open. */
  get openingLots(): number {
    return this.opening;
  }

  /** Books the planned fill. The order's reserve must be back in the wallet. */
  apply(s: VenueTables, market: Market, row: number, side: Side, ticks: number): void {
    const { positions } = market;
    positions.table.touch(row);
    const { closing, opening } = this;
    let toWallet = 0;
    let margin = 0;
    let cost = 0;
    if (closing > 0) {
      margin -= this.releasedMicros;
      cost += side * this.removedMicros;
      toWallet += this.releasedMicros + this.pnlMicros;
      positions.addRealized(row, this.pnlMicros);
    }
    if (opening > 0) {
      margin += this.openingMarginMicros;
      cost += side * opening * ticks * market.microsPerTickLot;
      toWallet -= this.openingMarginMicros;
    }
    market.moveLots(row, side * (closing + opening));
    s.addCost(market, row, cost);
    s.addMargin(market, row, margin);
    s.totals.fees += this.feeMicros;
    s.addWallet(positions.account(row), toWallet - this.feeMicros);
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

  /** Of `wanted` opening lots, those that limits and caps allow. */
  private allowedOpening(
    s: VenueTables,
    market: Market,
    row: number,
    wanted: number,
    maxNotionalMicros: number,
  ): number {
    const { maintenance, positions } = market;
    const held = this.closing > 0 ? 0 : Math.abs(positions.lots(row));
    let allowed = wanted;
    if (isAboveLimit(s, market, this.leverage)) {
      allowed = 0;
      this.reason = END.leverage_limited;
    }
    const first = maintenance.tiers[0]!;
    // The first tier, the common case, needs no division.
    if ((held + wanted) * this.markUnit > first.upToMicros || this.leverage > first.maxLeverage) {
      const limit = maintenance.limitOf(this.leverage);
      const room = Math.max(0, divFloor(limit, this.markUnit) - held);
      if (allowed > room) {
        allowed = room;
        this.reason =
          limit === maintenance.topMicros ? END.position_limit : END.leverage_above_tier;
      }
    }
    if (maxNotionalMicros > 0) {
      const account = positions.account(row);
      const room = Math.max(0, lotsWithinCap(s, market, account, maxNotionalMicros) - held);
      if (allowed > room) {
        allowed = room;
        this.reason = END.session_notional_cap_exceeded;
      }
    }
    return allowed;
  }

  private planOpening(
    market: Market,
    row: number,
    side: Side,
    allowed: number,
    funds: number,
  ): void {
    const { positions } = market;
    const flips = this.closing > 0;
    this.heldLots = flips ? 0 : positions.lots(row);
    this.heldCost = flips ? 0 : positions.cost(row);
    this.heldMargin = flips ? 0 : positions.margin(row);
    let opening = allowed;
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
