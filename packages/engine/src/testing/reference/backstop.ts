/**
 * The backstop, the fund's own account: it takes over lots of a liquidation ("Liquidating", step
 * 3a) and reduces them in the book ("Tick", step 4). Its PnL goes to the fund.
 */
import type { Side } from "../../commands.js";
import { BACKSTOP_SLICE_PPM } from "../../config.js";
import { BACKSTOP_ACCOUNT, TRADE_BACKSTOP } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { type Booked, closingPart, reducingSide } from "./fills.js";
import { abs, ceilDiv, floorDiv, max, min } from "./integers.js";
import { isLive, lotAtMark, MILLION, unitOf } from "./margin.js";
import { match, type Taker } from "./matching.js";
import type { Market, State } from "./state.js";
import { serveMarket } from "./work.js";

/** Lots that it would net first, then lots that it may open, of `lots` bought or sold by it. */
export function backstopCanTake(state: State, market: Market, side: Side, lots: bigint): bigint {
  const held = market.backstop.lots;
  const opposite = side > 0 ? max(0n, -held) : max(0n, held);
  const nets = min(lots, opposite);
  const rest = lots - nets;
  if (state.fund <= 0n || rest === 0n) return nets;
  let notional = 0n;
  for (const each of state.markets) {
    const after = each === market ? abs(held + BigInt(side) * nets) : abs(each.backstop.lots);
    notional += after * lotAtMark(each);
  }
  const room = max(0n, BigInt(state.config.backstopCapMicros) - notional);
  return nets + min(rest, floorDiv(room, lotAtMark(market)));
}

/** The netting part with the rounding of fillable step 2, then the opening part; PnL to the fund. */
export function backstopFill(
  state: State,
  market: Market,
  side: Side,
  lots: bigint,
  price: bigint,
): Booked {
  const own = market.backstop;
  const sign = BigInt(side);
  const opposite = side > 0 ? max(0n, -own.lots) : max(0n, own.lots);
  const c = min(lots, opposite);
  const closing = closingPart(market, { ...own, margin: 0n }, c, price);
  // Closing a long (side −1) takes cost away, closing a short gives it back toward 0.
  own.cost += sign * closing.removed;
  own.lots += sign * c;
  const o = lots - c;
  own.cost += sign * o * price * unitOf(market);
  own.lots += sign * o;
  state.fund += closing.pnl;
  return { fee: 0n, pnl: closing.pnl };
}

/** "Tick", step 4: one immediate-or-cancel reduction. */
export function reduceBackstop(state: State, market: Market): void {
  const { lots } = market.backstop;
  if (lots === 0n || !isLive(state, market)) return;
  const side = reducingSide(lots);
  const impact = floorDiv(BigInt(market.config.impactNotionalMicros), lotAtMark(market));
  let left = min(abs(lots), impact);
  const slack = floorDiv(market.mark * BigInt(BACKSTOP_SLICE_PPM), MILLION);
  const cost = abs(market.backstop.cost);
  const unit = abs(lots) * unitOf(market);
  const index = market.index ?? market.mark;
  const limit =
    side > 0
      ? min(market.mark + slack, max(index, floorDiv(cost, unit)))
      : max(market.mark - slack, min(index, ceilDiv(cost, unit)));
  const taker: Taker = {
    side,
    kind: TRADE_BACKSTOP,
    account: BACKSTOP_ACCOUNT,
    orderId: 0,
    stop: (price) => {
      if (left === 0n || price === null) return END.none;
      return (side > 0 ? price > limit : price < limit) ? END.none : null;
    },
    want: () => left,
    fillable: (wanted) => ({ lots: wanted, reason: END.none }),
    fill: (filled, price) => {
      left -= filled;
      return backstopFill(state, market, side, filled, price);
    },
    settle: () => {},
  };
  serveMarket(state, market.number);
  match(state, market, taker);
}
