/** How a client reaches the venue: it submits a command and gets its events, or no answer. */

import type { Command, VenueEvent } from "@perpgate/engine";
import type { Evidence } from "@perpgate/venue";

export interface SimulatedGateway {
  /** `onAnswer` gets null when the venue stopped and the outcome is unknown. */
  submit(
    command: Command,
    evidence: Evidence,
    onAnswer: (events: readonly VenueEvent[] | null) => void,
  ): void;
}
