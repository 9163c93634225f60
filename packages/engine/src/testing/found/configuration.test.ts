/** Parameters that change while positions are open, and parameters that cannot be. */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import { expect, test, vi } from "vitest";
import type { VenueConfig } from "../../config.js";
import { Engine } from "../../engine.js";
import { DepositBook } from "../../state/deposits.js";
import { genesis } from "../commands.js";
import { SABOTAGES, strikeAt } from "../faults/sabotage.js";
import { BTC, ETH } from "../scenarios/listing.js";
import { START_MS, Venue } from "../scenarios/venue.js";

function withTiers(venue: Venue, tiers: readonly MarginTier[]) {
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

/** Alice and Bob quote in both markets. */
function quotes(): Venue {
  const venue = new Venue({ markets: [BTC, ETH] });
  for (const name of ["alice", "bob"]) {
    const trader = venue.trader(name, 10_000);
    trader.buys("limit", { margin: 100, price: 49_000 });
    trader.buys("limit", { margin: 100, price: 1_900, market: ETH });
  }
  return venue;
}

function withBtc(venue: Venue, changes: Partial<typeof BTC.config>): VenueConfig {
  const [btc, ...others] = venue.config.markets;
  return { ...venue.config, markets: [{ ...btc!, ...changes }, ...others] };
}

test("Configure: one that changes no fee touches no position", () => {
  const venue = quotes();
  const [tier] = BTC.config.tiers;
  const changes: VenueConfig[] = [
    venue.config,
    { ...venue.config, maxOpenOrders: 77 },
    withBtc(venue, { takerFeePpm: 700 }),
    withBtc(venue, { tiers: [{ ...tier!, maintenancePpm: tier!.maintenancePpm + 1_000 }] }),
  ];
  for (const config of changes) {
    expect(venue.operates({ kind: "Configure", config })).toBeNull();
    expect(venue.events.map(({ kind }) => kind)).toEqual(["VenueConfigured"]);
  }
});

test("Configure: another maker fee settles the positions with orders in that market only", () => {
  const venue = quotes();
  const config = withBtc(venue, { makerFeePpm: 900 });
  expect(venue.operates({ kind: "Configure", config })).toBeNull();
  const settled = venue.happened("PositionSettled");
  expect(settled.map(({ account, market }) => [account, market])).toEqual([
    [1, 0],
    [2, 0],
  ]);
});

test("Configure: a fault among the orders of a new fee halts the market, which then has the fee", () => {
  const venue = quotes();
  const config = withBtc(venue, { makerFeePpm: 900 });
  const overflow = SABOTAGES.find(({ name }) => name === "an overflow in VenueState.addWallet")!;
  strikeAt(overflow, 2, () => venue.operates({ kind: "Configure", config }));
  expect(venue.happened("MarketHalted")).toMatchObject([{ market: 0 }]);
  expect(venue.happened("PositionSettled").map(({ account }) => account)).toEqual([1, 2]);
  expect(venue.engine.state.config).toBe(config);
});

test("Configure: votes on deposits that are credited are not counted again", () => {
  const venue = new Venue();
  for (const name of ["alice", "bob"]) venue.trader(name, 10_000);
  const open = venue.trader("carol").registers();
  const note = vi.spyOn(DepositBook.prototype, "note");
  expect(venue.operates({ kind: "Configure", config: venue.config })).toBeNull();
  const counted = note.mock.calls.map(([{ id }]) => id);
  note.mockRestore();
  expect(counted).toEqual([open]);
});
