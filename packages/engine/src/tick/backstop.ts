/** The backstop works its positions off: per tick and market one small reduction near the mark. */
import { divCeil, divFloor, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import { LONG, SHORT, type Side } from "../commands.js";
import { BACKSTOP_SLICE_PPM, PPM } from "../config.js";
import { BACKSTOP_ACCOUNT } from "../events.js";
import { match } from "../matching/match.js";
import { TAKER_BACKSTOP, Taker } from "../matching/taker.js";
import { MARKET, type Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";

const taker = new Taker();

export function reduceBackstop(s: VenueState, market: Market): void {
  const held = market.get(MARKET.BACKSTOP_LOTS);
  if (held === 0) return;
  s.focus = market.number;
  const { mark } = market;
  const slice = divFloor(market.config.impactNotionalMicros, mark * market.microsPerTickLot);
  const side = held > 0 ? SHORT : LONG;
  taker.begin(TAKER_BACKSTOP, side, -1, BACKSTOP_ACCOUNT, 0);
  taker.lotsLeft = Math.min(Math.abs(held), slice);
  taker.limitTicks = worstTicks(market, held, side);
  match(s, market, taker);
}

/**
 * Within reach of the mark, and no worse than the index unless that still makes no loss. Without
 * the second bound whoever moves the mark to its clamp could sell to the fund above the price at
 * which they left it their position.
 */
function worstTicks(market: Market, held: number, side: Side): number {
  const { mark } = market;
  const index = market.get(MARKET.INDEX);
  const unit = mulExact(Math.abs(held), market.microsPerTickLot);
  const cost = Math.abs(market.get(MARKET.BACKSTOP_COST));
  const reach = mulDivFloor(mark, BACKSTOP_SLICE_PPM, PPM);
  return side === LONG
    ? Math.min(mark + reach, Math.max(index, divFloor(cost, unit)))
    : Math.max(mark - reach, Math.min(index, divCeil(cost, unit)));
}
