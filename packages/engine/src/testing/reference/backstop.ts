/**
 * The backstop, the fund's own account: it takes over lots of a liquidation ("Liquidating", step
 * 3a) and reduces them in the book ("Tick", step 4). Its PnL goes to the fund.
 */
import type { Side } from "../../commands.js";
import { BACKSTOP_SLICE_PPM } from "../../config.js";
import { BACKSTOP_ACCOUNT, TRADE_BACKSTOP } from "../../events/event-table.js";
import { END } from "../../reasons.js";
import { type Booked, closingPart, reducingSide } from "./fills.js";
import { budgetLeft, fundWorth } from "./fund-budget.js";
import { abs, ceilDiv, floorDiv, max, min } from "./integers.js";
import { isLive, lotAtMark, MILLION, unitOf } from "./margin.js";
import { match, type Taker } from "./matching.js";
import { type Market, rulesOf, type State } from "./state.js";
import { serveMarket } from "./work.js";

/**
 * Step 3a: of `lots` that it would buy or sell, those that it nets, then those that it may open. `loss` is
 * what a lot costs it against the mark; 0 where the price is better.
 */
export function backstopTakes(
  state: State,
  market: Market,
  side: Side,
  lots: bigint,
  loss: bigint,
): bigint {
  const held = market.backstop.lots;
  const left = budgetLeft(state);
  const affordable = loss > 0n ? floorDiv(left, loss) : lots;
  const nets = min(min(lots, side > 0 ? max(0n, -held) : max(0n, held)), affordable);
  if (state.fund <= 0n) return nets;
  let notional = -nets * lotAtMark(market);
  for (const each of state.markets) notional += abs(each.backstop.lots) * lotAtMark(each);
  const cap = BigInt(state.config.backstopCapMicros);
  const within = (lot: bigint, bound: bigint) => floorDiv(max(0n, bound - notional), lot);
  const { fundIsSheltered } = rulesOf(state);
  const room = fundIsSheltered
    ? min(
        within(lotAtMark(market), min(cap, floorDiv(fundWorth(state), 2n))),
        within(lotAtMark(market) + 3n * loss, 3n * (left - nets * loss)),
      )
    : within(lotAtMark(market), cap);
  return min(min(lots, affordable), nets + room);
}

/** "Tick", step 4: lots that it gives to the other side at mark, because a move may cost too much. */
export function lotsToShed(state: State, market: Market): bigint {
  if (!rulesOf(state).fundIsSheltered || !isLive(state, market)) return 0n;
  let notional = 0n;
  for (const each of state.markets) notional += abs(each.backstop.lots) * lotAtMark(each);
  const half = floorDiv(fundWorth(state), 2n);
  const left = budgetLeft(state);
  if (notional <= min(half, 4n * left)) return 0n;
  const excess = notional - min(half, 3n * left);
  return min(abs(market.backstop.lots), ceilDiv(excess, lotAtMark(market)));
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
  const worst =
    side > 0
      ? min(market.mark + slack, max(index, floorDiv(cost, unit)))
      : max(market.mark - slack, min(index, ceilDiv(cost, unit)));
  // Version 3: whatever its entry.
  const bounded = side > 0 ? min(worst, index) : max(worst, index);
  const limit = rulesOf(state).fundIsSheltered ? bounded : worst;
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
