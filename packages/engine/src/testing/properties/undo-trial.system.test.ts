/**
 * A fill-or-kill order that is undone leaves everything as it was: after each one of a flow, the tables
 * and all derived structures are those of before, and those that a restore would build.
 */
import { describe, expect, test } from "vitest";
import { type Command, FILL_OR_KILL } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import { describeDerived } from "../derived.js";
import { batches, FIRST_SEED } from "../flow/flow.js";
import { applyBatch } from "../flow/log-batch.js";
import type { ProfileName } from "../flow/profiles.js";
import { ReferenceVenue } from "../reference/venue.js";

const COUNT = 4_000;

function isFillOrKill(command: Command): boolean {
  return command.kind === "PlaceOrder" && command.extras?.timeInForce === FILL_OR_KILL;
}

function isKilled(events: readonly VenueEvent[]): boolean {
  return events.some((event) => event.kind === "OrderAcknowledged" && event.filledLots === 0);
}

describe("an undone fill-or-kill order", () => {
  for (const name of ["few", "gate", "dust", "thinFund"] as const satisfies ProfileName[]) {
    test(`${name}: nothing derived has changed`, { timeout: 120_000 }, () => {
      const venue = new ReferenceVenue(1_000);
      const engine = new Engine();
      let undone = 0;
      const step = (command: Command): void => {
        const before = isFillOrKill(command) ? describeDerived(engine.state) : null;
        const events = engine.apply(command).decode();
        if (before === null || venue.state.undone.length === 0) return;
        expect(isKilled(events)).toBe(true);
        undone++;
        const where = `position ${engine.seq}`;
        expect(describeDerived(engine.state), where).toEqual(before);
        const restored = Engine.restore(engine.snapshot());
        expect(describeDerived(restored.state), where).toEqual(describeDerived(engine.state));
      };
      for (const batch of batches(name, FIRST_SEED + 100, COUNT, venue)) {
        engine.acceptBatch(batch.writer, batch.counter, batch.commands);
        applyBatch(venue, batch, step);
      }
      expect(undone).toBeGreaterThan(10);
    });
  }
});
