/**
 * Readiness by the clock: a venue whose time is more than two seconds behind the machine's clock says
 * so. It goes on trading by its own time, which runs evenly: with one clock there is no majority to
 * say which of the two is wrong, and refusing orders would turn a clock's error of a second into an
 * outage.
 */

import type { ReadinessProbe } from "@perpgate/gateway";
import { MAX_LAG_MS, type Venue } from "@perpgate/venue";

export function clockProbe(venue: Pick<Venue, "clockLeadMs">): ReadinessProbe {
  return {
    name: "clock",
    notReadyReason: () => {
      const leadMs = venue.clockLeadMs;
      if (leadMs <= MAX_LAG_MS) return undefined;
      return (
        `the clock is ${Math.round(leadMs / 1_000)} s ahead of the venue's time and is doubted: ` +
        "put it right, or restart with --accept-clock"
      );
    },
  };
}
