/** How a client reaches the venue: a command goes in, its events come back, or nothing does. */

import type { Command, VenueEvent } from "@perpgate/engine";
import type { Evidence } from "@perpgate/venue";

export interface Gateway {
  /** `hear` gets null when the venue stopped and nobody knows whether the command counts. */
  submit(
    command: Command,
    evidence: Evidence,
    hear: (events: readonly VenueEvent[] | null) => void,
  ): void;
}
