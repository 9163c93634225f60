/**
 * "Liquidating", step 3, lots that found no maker: at the bankruptcy price to the backstop (a),
 * the rest by auto-deleveraging (b), the liquidated account's part with each trade (c).
 */
import type { Side } from "../../commands.js";
import { BACKSTOP_ACCOUNT, TRADE_ADL, TRADE_BACKSTOP } from "../../events/event-table.js";
import { backstopFill, backstopTakes, lotsToShed } from "./backstop.js";
import { bankruptcyPrice, closeLots } from "./bankruptcy.js";
import { deleverage, type Trade } from "./deleverage.js";
import { emit } from "./end-events.js";
import { reducingSide } from "./fills.js";
import { max, num } from "./integers.js";
import { unitOf } from "./margin.js";
import type { Market, Position, State } from "./state.js";
import { mayMeet, serveMarket } from "./work.js";

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

  const trade = (
    tradeKind: number,
    makerAccount: number,
    amount: bigint,
    makerPnl: bigint,
  ): void => {
    const takerPnl = closeLots(market, position, amount, price);
    emit(state, {
      ...handedOver(market, side, price, amount, makerPnl, takerPnl),
      tradeKind,
      makerAccount,
      takerAccount: position.account,
    });
  };

  // What a lot at this price costs the backstop against the mark.
  const loss = max(0n, BigInt(otherSide) * (price - market.mark) * unitOf(market));
  let backstop = backstopTakes(state, market, otherSide, lots, loss);
  const toBackstop = (amount: bigint): void => {
    if (amount === 0n) return;
    const { pnl } = backstopFill(state, market, otherSide, amount, price);
    trade(TRADE_BACKSTOP, BACKSTOP_ACCOUNT, amount, pnl);
  };
  toBackstop(backstop);
  // Lots that stay with the position, because the command may meet nobody any more.
  let kept = 0n;
  if (backstop < lots) {
    const adl: Trade = (maker, amount, pnl) => trade(TRADE_ADL, maker.account, amount, pnl);
    const rest = deleverage(state, market, side, position.account, lots - backstop, price, adl);
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

/** "Tick", step 4: the backstop's lots that the budget does not cover, to the other side at mark. */
export function shedBackstop(state: State, market: Market): void {
  const lots = lotsToShed(state, market);
  if (lots === 0n) return;
  const side = reducingSide(market.backstop.lots);
  const price = market.mark;
  serveMarket(state, market.number);
  deleverage(state, market, side, BACKSTOP_ACCOUNT, lots, price, (maker, amount, makerPnl) => {
    const { pnl } = backstopFill(state, market, side, amount, price);
    emit(state, {
      ...handedOver(market, side, price, amount, makerPnl, pnl),
      tradeKind: TRADE_ADL,
      makerAccount: maker.account,
      takerAccount: BACKSTOP_ACCOUNT,
    });
  });
}

function handedOver(
  market: Market,
  takerSide: Side,
  price: bigint,
  lots: bigint,
  makerPnl: bigint,
  takerPnl: bigint,
) {
  return {
    kind: "Traded",
    market: market.number,
    tradeKind: 0,
    takerSide,
    priceTicks: num(price),
    lots: num(lots),
    makerOrderId: 0,
    makerAccount: 0,
    makerFeeMicros: 0,
    makerPnlMicros: num(makerPnl),
    takerOrderId: 0,
    takerAccount: 0,
    takerFeeMicros: 0,
    takerPnlMicros: num(takerPnl),
  } as const;
}
