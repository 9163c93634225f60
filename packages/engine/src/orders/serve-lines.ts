/** The service of stops that wait, under version 3 (docs/engine.md, "Lines of stops"). */
import { STOP_STEPS_PER_TICK } from "../config.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import { CLOSING_LINES, STALE_LINE, STOP_LINES, sizeOfLine } from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";
import { sizeNow } from "./line-of-stop.js";
import { setOfStop } from "./open-orders.js";
import { overReason } from "./over.js";
import { cancelOpen } from "./settle.js";
import { trigger } from "./trigger.js";

/** Serves stops of the market that wait, as far as its work and the limits go. */
export function serveLines(s: VenueState, market: Market): void {
  const { work } = s.scratch;
  let steps = STOP_STEPS_PER_TICK;
  let left = s.rules.stopsPerTickAndMarket;
  for (let line = 0; line < STOP_LINES; line++) {
    for (;;) {
      const order = market.stopLines.next(line);
      if (order === NONE) break;
      // One that could meet nobody waits: it would end without having had its turn.
      if (steps === 0 || left === 0 || work.left === 0) return;
      steps--;
      if (line < CLOSING_LINES && sizeNow(s, market, order) < sizeOfLine(line) - 1) {
        demote(s, market, order);
        continue;
      }
      left--;
      const over = overReason(s, order);
      if (over !== END.none) cancelOpen(s, market, order, over);
      else trigger(s, market, order);
    }
  }
}

/** A stop whose account has too little left to close for its line waits behind all others. */
function demote(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  market.stopLines.take(order, setOfStop(orders, order));
  orders.table.touch(order);
  orders.setLine(order, STALE_LINE, s.seq);
  market.stopLines.addStale(order);
}
