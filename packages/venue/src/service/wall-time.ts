import { MAX_LAG_MS } from "../time/venue-clock.js";
import type { Venue } from "../venue.js";

/**
 * When the wall clock shows a time of the log. They differ if one of them was wrong; a difference that
 * leaves the venue ready is not counted, or the result would vary by milliseconds.
 */
export function wallTimeOf(venue: Venue, logMs: number): number {
  const aheadMs = venue.nowMs() - venue.wallMs();
  return Math.abs(aheadMs) > MAX_LAG_MS ? logMs - aheadMs : logMs;
}
