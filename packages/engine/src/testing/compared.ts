/** An engine whose every command is compared with the reference. */
import { expect } from "vitest";
import type { Command } from "../commands.js";
import { Engine } from "../engine.js";
import type { VenueEvent } from "../events/event-table.js";
import { ReferenceVenue } from "./reference/venue.js";

export function comparedEngine(): {
  readonly engine: Engine;
  apply(command: Command): VenueEvent[];
} {
  const engine = new Engine();
  const reference = new ReferenceVenue(1_000_000);
  return {
    engine,
    apply(command) {
      const events = engine.apply(command).decode();
      expect(events).toEqual(reference.apply(command));
      expect(engine.state.scratch.work.spent).toBe(reference.state.work.spent);
      return events;
    },
  };
}
