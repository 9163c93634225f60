/** A venue for tests with thousands of orders: without the audit of the whole state per command. */
import type { Command } from "../../commands.js";
import type { VenueEvent } from "../../events/event-table.js";
import { Venue } from "../scenarios/venue.js";

export class LightVenue extends Venue {
  override apply(command: Command): VenueEvent[] {
    this.events = this.engine.apply(command).decode();
    return this.events;
  }

  /** The index moves in steps that the guard accepts, with ten seconds between them. */
  movesIndexTo(dollars: number): void {
    const listing = this.listings[0]!;
    for (;;) {
      const now = this.market().index / listing.ticksPerDollar;
      const next = Math.min(now * 1.15, Math.max(now * 0.85, dollars));
      this.index(next);
      if (next === dollars) return;
      this.resumes(this.now + 11_000);
    }
  }
}
