/**
 * Settling a market's positions at one price. Losers are settled first and pay at most their margin;
 * then the fund pays what they lack, while it is above zero; then the winners are paid, all scaled
 * alike if that was not enough. The backstop settles against the fund.
 *
 * A settled position passes its lots on to a clearing account at the settlement price, which has no
 * gain or loss there and is flat once all positions are settled; so lots and money balance after
 * every position. What losers lack, and what winners are not paid, is in the settlement's pool.
 */
import { mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { emit } from "../events/event-log.js";
import { closeAt, closingPnl } from "../money/bankruptcy.js";
import { settleFunding } from "../money/owed-funding.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";

/** Settles the position if it lost; otherwise counts its gain and leaves it for `settleWinner`. */
export function settleLoser(s: VenueState, market: Market, row: number): void {
  settleFunding(s, market, row);
  const pnl = pnlOf(market, row);
  if (pnl < 0) close(s, market, row, pnl);
  else market.settlementGains += pnl;
}

export function settleWinner(s: VenueState, market: Market, row: number): void {
  const pnl = pnlOf(market, row);
  const { settlementGains: gains, settlementPayout: payout } = market;
  close(s, market, row, payout === gains ? pnl : mulDivFloor(pnl, payout, gains));
}

function pnlOf(market: Market, row: number): number {
  return closingPnl(market, row, Math.abs(market.positions.lots(row)), market.settlementTicks);
}

/** Closes the position; `granted` is what its owner gains or loses before margin limits a loss. */
function close(s: VenueState, market: Market, row: number, granted: number): void {
  const { positions, settlementTicks: priceTicks } = market;
  positions.table.touch(row);
  const account = positions.account(row);
  const lots = positions.lots(row);
  const margin = positions.margin(row);
  const pnl = closeAt(s, market, row, Math.abs(lots), priceTicks);
  clear(s, market, lots);
  const paid = Math.max(0, margin + granted);
  positions.addRealized(row, paid - margin - pnl);
  s.addMargin(market, row, -margin);
  s.addWallet(account, paid);
  addToPool(s, market, margin + pnl - paid);
  emit.CashSettled(s.events, {
    account,
    market: market.number,
    lots,
    priceTicks,
    pnlMicros: pnl,
    paidMicros: paid,
    marginMicros: margin,
  });
}

/** After the losers: the backstop's part, the fund's, and what is left for the winners. */
export function fundSettlement(s: VenueState, market: Market): void {
  const { backstopLots: lots, backstopCost: cost } = market;
  const pnl = mulExact(lots, market.settlementTicks * market.microsPerTickLot) - cost;
  market.backstopLots = 0;
  market.backstopCost = 0;
  market.sumLots -= lots;
  s.totals.cost -= cost;
  clear(s, market, lots);
  if (pnl > 0) s.totals.fund += pnl;
  else addToPool(s, market, pnl);
  const fromFund = Math.min(-market.settlementPool, Math.max(0, s.totals.fund));
  s.totals.fund -= fromFund;
  addToPool(s, market, fromFund);
  const { settlementGains: gains } = market;
  market.settlementPayout = gains - Math.min(-market.settlementPool, gains);
}

/** After the winners: what rounding left over, or what nobody could pay, is the fund's. */
export function concludeSettlement(s: VenueState, market: Market): void {
  s.totals.fund += market.settlementPool;
  addToPool(s, market, -market.settlementPool);
}

function addToPool(s: VenueState, market: Market, micros: number): void {
  if (micros === 0) return;
  market.settlementPool += micros;
  s.totals.settlementPools += micros;
}

/** The clearing account takes lots at the settlement price. */
function clear(s: VenueState, market: Market, lots: number): void {
  const before = clearingCost(market);
  market.clearingLots += lots;
  market.sumLots += lots;
  s.totals.cost += clearingCost(market) - before;
}

export function clearingCost(market: Market): number {
  return mulExact(market.clearingLots, market.settlementTicks * market.microsPerTickLot) + 0;
}

/** Whether every position can be settled at the price within the safe integers. */
export function canSettleAt(market: Market, priceTicks: number): boolean {
  const longs = market.longLots + Math.max(0, market.backstopLots);
  return (
    Number.isSafeInteger(priceTicks) &&
    priceTicks >= 1 &&
    Number.isSafeInteger(longs * priceTicks * market.microsPerTickLot)
  );
}
