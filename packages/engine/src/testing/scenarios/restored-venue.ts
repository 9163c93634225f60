/**
 * A venue that is restored from its snapshot before every command: a twin must do the same, event for
 * event, and end in the same state. So a scenario is also shown with a restore at each of its moments.
 */
import type { Command } from "../../commands.js";
import { Engine } from "../../engine.js";
import type { VenueEvent } from "../../events/event-table.js";
import type { Trader } from "./trader.js";
import { Venue } from "./venue.js";

/** Accounts and open orders beyond which a snapshot per command would take long. */
const FEW = 20;

export class RestoredVenue extends Venue {
  override apply(command: Command): VenueEvent[] {
    const { orders, accounts, seq } = this.engine.state;
    if (seq === 0 || orders.openRows().length + accounts.rows > FEW) return super.apply(command);
    const twin = Engine.restore(this.engine.snapshot());
    const events = super.apply(command);
    const own = this.repeats(twin, command);
    if (JSON.stringify(own) !== JSON.stringify(events)) {
      throw new Error(`${command.kind}: other events after a restore`);
    }
    if (Buffer.compare(twin.snapshot(), this.engine.snapshot()) !== 0) {
      throw new Error(`${command.kind}: another state after a restore`);
    }
    return events;
  }
}

export interface Pair {
  readonly venue: Venue;
  readonly alice: Trader;
  readonly bob: Trader;
}

/** Alice is long two coins from Bob at $50,000 (10×); the book is empty. */
export function aliceIsLong(options: ConstructorParameters<typeof Venue>[0] = {}): Pair {
  const venue = new RestoredVenue(options);
  const alice = venue.trader("alice", 100_000);
  const bob = venue.trader("bob", 1_000_000);
  bob.sells("limit", { margin: 10_000, price: 50_000 });
  alice.buys("limit", { margin: 10_000, price: 50_000 });
  return { venue, alice, bob };
}
