/**
 * The matching loop (docs/engine.md, "Matching loop"): best price first, oldest order first, until
 * the taker has what it wants or must stop. Makers and takers fill what they can pay for; every
 * fill settles both accounts before the next maker is looked at.
 */
import { divFloor } from "@perpgate/protocol/integers";
import { changeReserve, removeOrder } from "../book/open-orders.js";
import { EVENT } from "../event-log.js";
import { TRADE_BACKSTOP, TRADE_LIQUIDATION, TRADE_ORDER } from "../events.js";
import { shiftBackstop } from "../liquidation/backstop-account.js";
import { bankruptcyTicks, takeFromLiquidated } from "../liquidation/bankruptcy.js";
import { closable, FillPlan } from "../margin/fill.js";
import { endOrder, reserveFor, settle } from "../margin/settle.js";
import { END } from "../reasons.js";
import { MARKET, type Market } from "../state/market.js";
import { ORDER, ORDER_WORDS } from "../state/orders.js";
import type { VenueState } from "../state/venue.js";
import { TAKER_LIQUIDATION, TAKER_ORDER, type Taker, UNBUDGETED } from "./taker.js";

const TRADE_KIND = [TRADE_ORDER, TRADE_LIQUIDATION, TRADE_BACKSTOP] as const;
// Plans are used within one step only; two of them serve every fill.
const makerPlan = new FillPlan();
const takerPlan = new FillPlan();

export function match(s: VenueState, market: Market, taker: Taker): void {
  const ladder = market.ladder(taker.side > 0 ? -1 : 1);
  while (wantsMore(market, taker)) {
    if (ladder.count === 0) {
      taker.stopReason = END.book_empty;
      return;
    }
    const ticks = ladder.bestTicks();
    if (taker.kind === TAKER_LIQUIDATION) {
      taker.limitTicks = bankruptcyTicks(market, taker.row, taker.side);
    }
    if (taker.isWorse(ticks, taker.limitTicks)) {
      taker.stopReason = taker.limitReason;
      return;
    }
    if (taker.isWorse(ticks, taker.bandTicks)) {
      taker.stopReason = END.band;
      return;
    }
    if (!meet(s, market, taker, ladder.bestOrder(), ticks)) return;
  }
}

/** Whether the taker wants lots at all, whatever the price. */
function wantsMore(market: Market, taker: Taker): boolean {
  if (taker.lotsLeft === 0 || taker.budgetMicros === 0) return false;
  return !taker.reduceOnly || closable(market, taker.row, taker.side) > 0;
}

/** Lets the taker meet one maker; false when the taker is done. */
function meet(s: VenueState, market: Market, taker: Taker, maker: number, ticks: number): boolean {
  const data = s.orders.table.data;
  const at = maker * ORDER_WORDS;
  if (taker.kind === TAKER_ORDER && data[at + ORDER.ACCOUNT] === taker.account) {
    endOrder(s, market, maker, END.self_trade);
    return true;
  }
  const wanted = wantedAt(market, taker, ticks);
  if (wanted === 0) return false;
  const makerId = data[at + ORDER.ID]!;
  const makerRow = data[at + ORDER.POSITION]!;
  const makerSide = taker.side > 0 ? -1 : 1;
  let asked = Math.min(wanted, data[at + ORDER.REMAINING]!);
  if (data[at + ORDER.REDUCE_ONLY] !== 0) {
    asked = Math.min(asked, closable(market, makerRow, makerSide));
  }
  const leverage = data[at + ORDER.LEVERAGE]!;
  const reserve = data[at + ORDER.RESERVE]!;
  const { makerFeePpm } = market.config;
  const offered = makerPlan.plan(
    s,
    market,
    makerRow,
    makerSide,
    asked,
    ticks,
    makerFeePpm,
    leverage,
    reserve,
  );
  if (offered === 0) {
    endOrder(s, market, maker, makerPlan.reason);
    return true;
  }
  const makerShort = offered < asked ? makerPlan.reason : END.none;
  let filled = offered;
  let takerShort: number = END.none;
  if (taker.kind === TAKER_ORDER) {
    filled = takerPlan.plan(
      s,
      market,
      taker.row,
      taker.side,
      offered,
      ticks,
      taker.feePpm,
      taker.leverage,
      0,
    );
    if (filled < offered) {
      takerShort = takerPlan.reason;
      if (filled === 0) {
        taker.stopReason = takerShort;
        return false;
      }
      // Fewer lots round differently: the maker must be able to fill exactly these.
      const again = makerPlan.plan(
        s,
        market,
        makerRow,
        makerSide,
        filled,
        ticks,
        makerFeePpm,
        leverage,
        reserve,
      );
      if (again < filled) {
        endOrder(s, market, maker, makerPlan.reason);
        return true;
      }
    }
  }
  trade(s, market, taker, maker, filled, ticks);
  if (filled === offered && makerShort !== END.none) {
    // Settling may have ended it already, and its row may belong to another order by now.
    if (s.orders.index.get(makerId) === maker) endOrder(s, market, maker, makerShort);
  }
  if (takerShort === END.none) return true;
  taker.stopReason = takerShort;
  return false;
}

function wantedAt(market: Market, taker: Taker, ticks: number): number {
  let wanted = taker.lotsLeft;
  if (taker.budgetMicros !== UNBUDGETED) {
    wanted = Math.min(wanted, divFloor(taker.budgetMicros, ticks * market.microsPerTickLot));
  }
  if (taker.reduceOnly) wanted = Math.min(wanted, closable(market, taker.row, taker.side));
  return wanted;
}

/** Books the planned fill on both sides, says so, and settles both accounts. */
function trade(
  s: VenueState,
  market: Market,
  taker: Taker,
  maker: number,
  lots: number,
  ticks: number,
): void {
  const orders = s.orders.table;
  orders.touch(maker);
  const data = orders.data;
  const at = maker * ORDER_WORDS;
  const makerRow = data[at + ORDER.POSITION]!;
  const makerId = data[at + ORDER.ID]!;
  const makerAccount = data[at + ORDER.ACCOUNT]!;
  market.positions.table.touch(makerRow);
  changeReserve(s, market, maker, 0, 0);
  makerPlan.apply(s, market, makerRow, taker.side > 0 ? -1 : 1, ticks);

  let takerPnl = 0;
  let takerFee = 0;
  if (taker.kind === TAKER_ORDER) {
    takerPlan.apply(s, market, taker.row, taker.side, ticks);
    takerPnl = takerPlan.pnlMicros;
    takerFee = takerPlan.feeMicros;
  } else if (taker.kind === TAKER_LIQUIDATION) {
    takerPnl = takeFromLiquidated(s, market, taker.row, lots, ticks);
  } else {
    takerPnl = shiftBackstop(s, market, taker.side, lots, ticks);
  }
  const micros = lots * ticks * market.microsPerTickLot;
  taker.lotsLeft -= lots;
  if (taker.budgetMicros !== UNBUDGETED) taker.budgetMicros -= micros;
  taker.filledLots += lots;
  taker.filledMicros += micros;
  taker.feeMicros += takerFee;
  market.set(MARKET.LAST, ticks);

  const w = s.events.open(EVENT.Traded, 13);
  const words = s.events.words;
  words[w] = market.number;
  words[w + 1] = TRADE_KIND[taker.kind];
  words[w + 2] = taker.side;
  words[w + 3] = ticks;
  words[w + 4] = lots;
  words[w + 5] = makerId;
  words[w + 6] = makerAccount;
  words[w + 7] = makerPlan.feeMicros;
  words[w + 8] = makerPlan.pnlMicros;
  words[w + 9] = taker.orderId;
  words[w + 10] = taker.account;
  words[w + 11] = takerFee;
  words[w + 12] = takerPnl;

  shrinkMaker(s, market, maker, makerRow, lots);
  settle(s, market, makerRow);
  if (taker.kind === TAKER_ORDER) settle(s, market, taker.row);
}

/** The maker's order after a fill: fewer lots, or out of the book. */
function shrinkMaker(
  s: VenueState,
  market: Market,
  maker: number,
  makerRow: number,
  lots: number,
): void {
  const data = s.orders.table.data;
  const at = maker * ORDER_WORDS;
  const remaining = data[at + ORDER.REMAINING]! - lots;
  data[at + ORDER.REMAINING] = remaining;
  market.ladder(data[at + ORDER.SIDE]! > 0 ? 1 : -1).reduce(maker, lots);
  const covered = data[at + ORDER.CLOSING]!;
  if (covered > remaining) {
    data[at + ORDER.CLOSING] = remaining;
    market.positions.given[makerRow] = market.positions.given[makerRow]! - (covered - remaining);
  }
  if (remaining > 0) {
    reserveFor(s, market, maker);
    return;
  }
  const w = s.events.open(EVENT.OrderEnded, 5);
  const words = s.events.words;
  words[w] = data[at + ORDER.ID]!;
  words[w + 1] = data[at + ORDER.ACCOUNT]!;
  words[w + 2] = market.number;
  words[w + 3] = END.none;
  words[w + 4] = 0;
  removeOrder(s, market, maker);
}
