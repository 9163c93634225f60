/** The backstop works its positions off: per tick and market one small reduction near the mark. */
import { divFloor, mulDivFloor } from "@perpgate/protocol/integers";
import { LONG, SHORT } from "../commands.js";
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
  const reach = mulDivFloor(mark, BACKSTOP_SLICE_PPM, PPM);
  const side = held > 0 ? SHORT : LONG;
  taker.begin(TAKER_BACKSTOP, side, -1, BACKSTOP_ACCOUNT, 0);
  taker.lotsLeft = Math.min(Math.abs(held), slice);
  taker.limitTicks = mark + side * reach;
  match(s, market, taker);
}
