/** The service of stops that wait, under version 3 (docs/engine.md, "Lines of stops"). */
import { STOP_STEPS_PER_TICK } from "../config.js";
import { END } from "../reasons.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import {
  CLOSING_LINES,
  firstLine,
  LATER_LINES,
  STALE_LINE,
  sizeOfLine,
} from "../state/stop-lines.js";
import type { VenueState } from "../state/venue.js";
import { sizeNow } from "./line-of-stop.js";
import { setOfStop } from "./open-orders.js";
import { overReason } from "./over.js";
import { cancelOpen } from "./settle.js";
import { trigger } from "./trigger.js";

/**
 * Serves stops of some of the market's lines, as far as its work and the limits go. Stops that have had a
 * turn are counted apart from the others, so that these, however many, do not hold them up.
 */
export function serveLines(s: VenueState, market: Market, from: number, to: number): void {
  const { work, stopsLooked: looked, stopsServed: served } = s.scratch;
  const number = 2 * market.number + (from === LATER_LINES ? 1 : 0);
  for (let line = from; line < to; line++) {
    for (;;) {
      const looks = looked[number] ?? 0;
      const serves = served[number] ?? 0;
      if (looks === STOP_STEPS_PER_TICK || serves === s.rules.stopsPerTickAndMarket) return;
      // One that could meet nobody waits: it would have had its turn for nothing.
      if (work.left <= s.rules.unitsPerService) return;
      const order = market.stopLines.next(line);
      if (order === NONE) break;
      looked[number] = looks + 1;
      if (firstLine(line) < CLOSING_LINES && sizeNow(s, market, order) < sizeOfLine(line) - 1) {
        demote(s, market, order);
        continue;
      }
      served[number] = serves + 1;
      const over = overReason(s, order);
      if (over !== END.none) cancelOpen(s, market, order, over);
      else trigger(s, market, order, unitsOf(s, line));
    }
  }
}

/** Units of a turn. */
function unitsOf({ rules }: VenueState, line: number): number {
  return line >= LATER_LINES ? rules.unitsPerTurn : rules.unitsPerFirstTurn;
}

/** A stop whose account has too little left to close for its line waits behind all others of its turn. */
function demote(s: VenueState, market: Market, order: number): void {
  const { orders } = s;
  const line = orders.line(order);
  market.stopLines.take(order, setOfStop(orders, order));
  orders.table.touch(order);
  orders.setLine(order, line - firstLine(line) + STALE_LINE, s.seq);
  market.stopLines.addMoved(order);
}
