/**
 * Readiness by the clock: not ready while the venue's time is more than two seconds behind the wall
 * clock. The venue continues to trade by its own time, which is monotonic: with two clocks there is no
 * majority to decide which one is wrong, and refusing orders would turn a clock error of a second into
 * an outage.
 */

import type { ReadinessProbe } from "@perpgate/link";
import { MAX_LAG_MS, type Venue } from "@perpgate/venue";

export function clockProbe(venue: Pick<Venue, "clockLeadMs">): ReadinessProbe {
  return {
    name: "clock",
    notReadyReason: () => {
      const leadMs = venue.clockLeadMs;
      if (leadMs <= MAX_LAG_MS) return undefined;
      return (
        `the clock is ${Math.round(leadMs / 1_000)} s ahead of the venue's time and is not followed: ` +
        "correct it, or restart with --accept-clock"
      );
    },
  };
}
