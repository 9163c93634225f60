/** Slots for the indexes of tests, which may have several in one slot of the clock. */
import { MAX_LEAD_MS, TICK_MS } from "../config.js";
import type { VenueState } from "../state/venue.js";

/**
 * The slot of an index that is observed now, or of the next one if the market had one in it.
 *
 * @throws RangeError if that slot is too far ahead: there were more indexes than slots.
 */
export function indexSlot(s: VenueState, market: number): number {
  if (!hasIndexSlot(s, market)) throw new RangeError("an index too many");
  return nextSlot(s, market);
}

export function hasIndexSlot(s: VenueState, market: number): boolean {
  return nextSlot(s, market) * TICK_MS <= s.lastTickMs + MAX_LEAD_MS;
}

function nextSlot(s: VenueState, market: number): number {
  return Math.max(Math.floor(s.timeMs / TICK_MS), (s.markets[market]?.indexSlot ?? 0) + 1);
}
