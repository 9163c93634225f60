/** UpdateIndex: a new index price, and the mark that follows from it. */
import type { UpdateIndex } from "../commands.js";
import { EVENT } from "../event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import { MARKET } from "../state/market.js";
import type { VenueState } from "../state/venue.js";
import { remark } from "./mark.js";

/** A book reaches to ten times the mark: keeps even its middle × 65536 exact. */
const MAX_INDEX_TICKS = 2 ** 33;

export function updateIndex(s: VenueState, command: UpdateIndex): boolean {
  const market = s.markets[command.market];
  if (market === undefined) return refuse(s, REFUSAL.market_unknown);
  if (market.halted) return refuse(s, REFUSAL.market_halted);
  const ticks = command.indexTicks;
  if (!(Number.isSafeInteger(ticks) && ticks >= 1 && ticks <= MAX_INDEX_TICKS)) {
    return refuse(s, REFUSAL.index_invalid);
  }
  s.focus = market.number;
  market.set(MARKET.INDEX, ticks);
  market.set(MARKET.INDEX_AT, s.timeMs);
  remark(market, s.timeMs);
  s.events.emit(EVENT.IndexUpdated, market.number, ticks, market.mark);
  return true;
}
