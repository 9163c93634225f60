/** Parameters that change while positions are open, and parameters that cannot be. */
import { expect, test } from "vitest";
import type { Tier } from "../../config.js";
import { Engine } from "../../engine.js";
import { genesis } from "../commands.js";
import { BTC } from "../scenarios/listing.js";
import { START_MS, Venue } from "../scenarios/venue.js";

function withTiers(venue: Venue, tiers: readonly Tier[]) {
  return { ...venue.config, markets: [{ ...BTC.config, tiers }] };
}

test("Configure: a raised maintenance rate liquidates at the next tick who is due by it", () => {
  const venue = new Venue();
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 10_000);
  bob.sells("limit", { margin: 1_000, leverage: 50, price: 50_000 });
  alice.buys("limit", { margin: 1_000, leverage: 50, price: 50_000 });
  const tiers = [{ upToMicros: 20e12, maxLeverage: 10, maintenancePpm: 50_000 }];
  venue.operates({ kind: "Configure", config: withTiers(venue, tiers) });
  const restored = Engine.restore(venue.engine.snapshot());
  const tick = { kind: "Tick", slot: venue.now / 200 + 1 } as const;
  venue.apply(tick);
  expect(venue.happened("Liquidated").map((event) => event.account)).toEqual([1, 2]);
  expect(restored.apply(tick).decode()).toEqual(venue.events);
});

test("Configure and Genesis: a tier bound that leaves no room for ten times it is refused", () => {
  const venue = new Venue();
  const config = withTiers(venue, [{ upToMicros: 2e15, maxLeverage: 10, maintenancePpm: 50_000 }]);
  expect(venue.operates({ kind: "Configure", config })).toBe("configuration_invalid");
  const engine = new Engine();
  const events = engine.apply(genesis(START_MS, config));
  expect(events.decode()).toMatchObject([{ kind: "CommandRefused" }]);
});
