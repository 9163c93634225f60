/**
 * Hourly funding: the side that pushes the price pays the other. Payers pay up to their equity, the
 * fund covers what they cannot, and only then are receivers scaled; the rounding stays in the fund.
 */
import { mulDivCeil, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import {
  FUNDING_CAP_PER_HOUR,
  INTEREST_PER_8H,
  PREMIUM_CLAMP_PER_8H,
  RATE_SCALE,
} from "../config.js";
import { EVENT } from "../event-log.js";
import { equityOf } from "../margin/fill.js";
import { openPositions } from "../margin/rows.js";
import { MARKET, type Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";

/** The hour's rate in billionths, from the samples taken so far. */
export function fundingRate(market: Market): number {
  const count = market.get(MARKET.PREMIUM_COUNT);
  if (count === 0) return 0;
  const premium = Math.trunc(market.get(MARKET.PREMIUM_SUM) / count);
  const pull = clamp(INTEREST_PER_8H - premium, PREMIUM_CLAMP_PER_8H);
  // No hour takes more than half of the maintenance: whoever is liquidated still has the rest.
  const cap = Math.min(FUNDING_CAP_PER_HOUR, market.maintenance.lowestPpm * 500);
  return clamp(Math.trunc((premium + pull) / 8), cap) + 0;
}

export function applyFunding(s: VenueState, market: Market, hourEndMs: number): void {
  s.focus = market.number;
  // With a stale index nobody can be liquidated, so nobody may be worn down either.
  const rate = s.indexIsStale(market) ? 0 : fundingRate(market);
  market.set(MARKET.PREMIUM_SUM, 0);
  market.set(MARKET.PREMIUM_COUNT, 0);
  let collected = 0;
  let paid = 0;
  if (rate !== 0) {
    const rows = openPositions(market);
    const payingSide = rate > 0 ? 1 : -1;
    const size = Math.abs(rate);
    const dues = rows.map((row) => due(market, row, payingSide, size));
    let wanted = 0;
    let missing = 0;
    rows.forEach((row, i) => {
      const amount = dues[i]!;
      // A receiver of less than a micro is due 0 and is no payer.
      if (lotsOf(market, row) * payingSide < 0) {
        wanted += amount;
      } else {
        collected -= amount;
        missing += owed(market, row, size) + amount;
      }
    });
    // The fund stands in for accounts that cannot pay, not for its own backstop.
    const available = collected + Math.min(missing, Math.max(0, s.global(GLOBAL.FUND)));
    rows.forEach((row, i) => {
      const amount = dues[i]!;
      const moved =
        amount <= 0 || wanted <= available ? amount : mulDivFloor(amount, available, wanted);
      if (moved > 0) paid += moved;
      if (moved !== 0) moveFunding(s, market, row, moved);
    });
    s.add(GLOBAL.FUND, collected - paid);
  }
  s.events.emit(EVENT.FundingApplied, market.number, rate, market.mark, hourEndMs, collected, paid);
}

/** What a position receives, or (negative) what it pays, at most its equity. */
function due(market: Market, row: number, payingSide: number, rate: number): number {
  if (lotsOf(market, row) * payingSide < 0)
    return mulDivFloor(notionalOf(market, row), rate, RATE_SCALE);
  return 0 - Math.min(owed(market, row, rate), Math.max(0, equityOf(market, row)));
}

function owed(market: Market, row: number, rate: number): number {
  return mulDivCeil(notionalOf(market, row), rate, RATE_SCALE);
}

function notionalOf(market: Market, row: number): number {
  return mulExact(Math.abs(lotsOf(market, row)), market.mark * market.microsPerTickLot);
}

function lotsOf(market: Market, row: number): number {
  return market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
}

function moveFunding(s: VenueState, market: Market, row: number, received: number): void {
  market.positions.table.touch(row);
  const data = market.positions.table.data;
  const at = row * POSITION_WORDS + POSITION.FUNDING;
  data[at] = data[at]! - received;
  // A payer whose margin is used up pays out of its unrealised profit: its cost rises by as much.
  const margin = Math.max(0, data[row * POSITION_WORDS + POSITION.MARGIN]!);
  const fromProfit = Math.max(0, -received - margin);
  s.addMargin(market, row, received + fromProfit);
  if (fromProfit === 0) return;
  const costAt = row * POSITION_WORDS + POSITION.COST;
  data[costAt] = data[costAt]! + fromProfit;
  s.add(GLOBAL.COST, fromProfit);
}

function clamp(value: number, bound: number): number {
  return Math.min(Math.max(value, -bound), bound);
}
