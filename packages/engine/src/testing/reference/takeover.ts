/**
 * "Liquidating", step 3, lots that found no maker: at the bankruptcy price to the backstop (a),
 * the rest by auto-deleveraging (b), the liquidated account's part with each trade (c).
 */
import type { Side } from "../../commands.js";
import { BACKSTOP_ACCOUNT, TRADE_ADL, TRADE_BACKSTOP } from "../../events/event-table.js";
import { backstopCanTake, backstopFill } from "./backstop.js";
import { bankruptcyPrice, closeLots } from "./bankruptcy.js";
import { deleverage } from "./deleverage.js";
import { emit } from "./end-events.js";
import { reducingSide } from "./fills.js";
import { budgetLeft } from "./fund-budget.js";
import { floorDiv, min, num } from "./integers.js";
import { unitOf } from "./margin.js";
import type { Market, Position, State } from "./state.js";
import { mayMeet } from "./work.js";

export interface TakenOver {
  readonly backstop: bigint;
  readonly deleveraged: bigint;
  /** The margin that was left of a position that is gone. */
  readonly dust: bigint;
}

export function takeOver(
  state: State,
  market: Market,
  position: Position,
  lots: bigint,
): TakenOver {
  const price = bankruptcyPrice(market, position);
  if (price === 0n) throw new Error("no position was ever opened below one tick");
  const side = reducingSide(position.lots);
  const otherSide: Side = side > 0 ? -1 : 1;

  const trade = (kind: number, maker: number, amount: bigint, makerPnl: bigint): void => {
    const takerPnl = closeLots(market, position, amount, price);
    emit(state, {
      kind: "Traded",
      market: market.number,
      tradeKind: kind,
      takerSide: side,
      priceTicks: num(price),
      lots: num(amount),
      makerOrderId: 0,
      makerAccount: maker,
      makerFeeMicros: 0,
      makerPnlMicros: num(makerPnl),
      takerOrderId: 0,
      takerAccount: position.account,
      takerFeeMicros: 0,
      takerPnlMicros: num(takerPnl),
    });
  };

  let backstop = backstopCanTake(state, market, otherSide, lots);
  // What a lot at this price costs the backstop against the mark.
  const loss = BigInt(otherSide) * (price - market.mark) * unitOf(market);
  if (loss > 0n) backstop = min(backstop, floorDiv(budgetLeft(state), loss));
  const toBackstop = (amount: bigint): void => {
    if (amount === 0n) return;
    const { pnl } = backstopFill(state, market, otherSide, amount, price);
    trade(TRADE_BACKSTOP, BACKSTOP_ACCOUNT, amount, pnl);
  };
  toBackstop(backstop);
  // Lots that stay with the position, because the command may meet nobody any more.
  let kept = 0n;
  if (backstop < lots) {
    const rest = deleverage(state, market, side, lots - backstop, price, (maker, amount, pnl) =>
      trade(TRADE_ADL, maker.account, amount, pnl),
    );
    if (!mayMeet(state)) {
      kept = rest;
    } else {
      // Only the backstop holds the opposite of these.
      toBackstop(rest);
      backstop += rest;
    }
  }
  const dust = position.lots === 0n ? position.margin : 0n;
  state.fund += dust;
  position.margin -= dust;
  return { backstop, deleveraged: lots - backstop - kept, dust };
}
