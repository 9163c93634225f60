/**
 * Liquidation of one position: cancel its orders, close it in the book no worse than bankruptcy,
 * down to a lower tier if that heals it; what the book does not take goes to the backstop, and
 * beyond that to the other side (docs/engine.md, "Liquidating").
 */
import { mulDivCeil, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { LIQUIDATION_FEE_PPM, PPM } from "../config.js";
import { EVENT } from "../event-log.js";
import { equityOf, maintenanceOf } from "../margin/fill.js";
import { endOrder, openOrdersOf, settle } from "../margin/settle.js";
import { match } from "../matching/match.js";
import { TAKER_LIQUIDATION, Taker } from "../matching/taker.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";
import { GLOBAL, type VenueState } from "../state/venue.js";
import { handOver } from "./hand-over.js";

const taker = new Taker();

export function isDue(market: Market, row: number): boolean {
  const lots = market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!;
  return lots !== 0 && equityOf(market, row) <= maintenanceOf(market, row);
}

export function liquidate(s: VenueState, market: Market, row: number): void {
  s.focus = market.number;
  market.positions.table.touch(row);
  for (const order of openOrdersOf(s, market, row)) endOrder(s, market, order, END.liquidation);
  while (isDue(market, row)) liquidationRound(s, market, row);
  settle(s, market, row);
}

function liquidationRound(s: VenueState, market: Market, row: number): void {
  const { table } = market.positions;
  const at = row * POSITION_WORDS;
  const lots = table.data[at + POSITION.LOTS]!;
  const account = table.data[at + POSITION.ACCOUNT]!;
  const side: Side = lots > 0 ? -1 : 1;
  taker.begin(TAKER_LIQUIDATION, side, row, account, 0);
  taker.lotsLeft = targetLots(market, row);
  match(s, market, taker);

  const fullFee = mulDivCeil(taker.filledMicros, LIQUIDATION_FEE_PPM, PPM);
  let fee = 0;
  let backstopLots = 0;
  let deleveragedLots = 0;
  if (table.data[at + POSITION.LOTS] === 0) {
    const margin = table.data[at + POSITION.MARGIN]!;
    fee = Math.min(fullFee, margin);
    s.addMargin(market, row, -margin);
    s.add(GLOBAL.FUND, fee);
    s.addWallet(account, margin - fee);
  } else if (taker.lotsLeft > 0 && isDue(market, row)) {
    backstopLots = handOver(s, market, row, side, taker.lotsLeft);
    deleveragedLots = taker.lotsLeft - backstopLots;
  } else {
    const spare = equityOf(market, row) - maintenanceOf(market, row) - 1;
    fee = Math.min(fullFee, Math.max(0, spare));
    s.addMargin(market, row, -fee);
    s.add(GLOBAL.FUND, fee);
  }
  s.events.emit(
    EVENT.Liquidated,
    account,
    market.number,
    taker.filledLots,
    fee,
    backstopLots,
    deleveragedLots,
  );
}

/** Lots to close: down to the highest lower tier that would leave it healthy, else all. */
function targetLots(market: Market, row: number): number {
  const lots = Math.abs(market.positions.table.data[row * POSITION_WORDS + POSITION.LOTS]!);
  const unit = market.mark * market.microsPerTickLot;
  const notional = mulExact(lots, unit);
  const equity = equityOf(market, row);
  const { bounds } = market.maintenance;
  for (let i = bounds.length - 1; i >= 0; i--) {
    const bound = bounds[i]!;
    if (bound >= notional) continue;
    const fee = mulDivCeil(notional - bound, LIQUIDATION_FEE_PPM, PPM);
    if (equity - fee > market.maintenance.of(bound)) return lots - Math.floor(bound / unit);
  }
  return lots;
}
