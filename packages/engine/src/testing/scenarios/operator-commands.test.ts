/**
 * Operator commands expire, are few a minute, and do not both raise a limit and list a market
 * (the incident at Drift on 2026-04-01 used commands that were signed long before and sent together).
 */
import { describe, expect, test } from "vitest";
import type { VenueConfig } from "../../config.js";
import { Engine } from "../../engine.js";
import { addressOf, setCohort } from "../commands.js";
import { BTC, ETH, venueConfig } from "./listing.js";
import { Venue } from "./venue.js";

function sealed(): Venue {
  const venue = new Venue();
  venue.trader("alice");
  venue.tick();
  return venue;
}

function configures(venue: Venue, config: VenueConfig): string | null {
  return venue.operates({ kind: "Configure", config });
}

describe("expiry", () => {
  test("one whose time has passed in the log: refused, whatever its stamp says", () => {
    const venue = sealed();
    const expiresAtMs = venue.now + 1_000;
    const upgrade = { kind: "Upgrade", stampMs: venue.now, expiresAtMs, version: 2 } as const;
    venue.apply(upgrade);
    expect(venue.refusal).toBe("version_not_next");
    venue.waits(2);
    venue.apply(upgrade);
    expect(venue.refusal).toBe("command_expired");
  });

  test("at its last moment it is executed", () => {
    const venue = sealed();
    const stampMs = venue.now;
    venue.apply({ ...setCohort(stampMs, "closed"), expiresAtMs: stampMs });
    expect(venue.refusal).toBeNull();
  });
});

describe("ten a minute", () => {
  test("of all kinds together; refused ones do not count; a minute later the next one runs", () => {
    const venue = sealed();
    for (let i = 0; i < 5; i++) {
      expect(venue.controls("settle", -1)).toBe("invalid_command");
      expect(venue.controls(i % 2 === 0 ? "halt" : "resume")).toBeNull();
      expect(configures(venue, venue.config)).toBeNull();
    }
    expect(venue.controls("resume")).toBe("operator_rate_limit");
    const [first = 0] = venue.engine.state.operatorTimes;
    expect(venue.happened("CommandRefused")[0]?.detail1).toBe(first + 60_000);
    venue.resumes(first + 59_999);
    expect(venue.controls("resume")).toBe("operator_rate_limit");
    venue.resumes(first + 60_000);
    expect(venue.controls("resume")).toBeNull();
  });

  test("a snapshot remembers them", () => {
    const venue = sealed();
    for (let i = 0; i < 10; i++) venue.controls("halt");
    venue.engine = Engine.restore(venue.engine.snapshot());
    expect(venue.controls("resume")).toBe("operator_rate_limit");
  });

  test("the first list of a new venue, however many commands it takes, is not limited", () => {
    const venue = new Venue();
    for (let i = 0; i < 30; i++) {
      venue.cohort("allowlist", [addressOf(i)]);
      expect(venue.refusal).toBeNull();
    }
    expect(venue.engine.state.allowlist.size).toBe(30);
  });
});

describe("a limit and a listing", () => {
  const listed = (changes: Partial<VenueConfig> = {}) => venueConfig([BTC, ETH], changes);
  const wider = { ...BTC.config, bandPpm: BTC.config.bandPpm * 2 };

  test.each<[string, VenueConfig]>([
    ["the backstop's cap", listed({ backstopCapMicros: 9_000_000e6 })],
    ["the fund's loss an hour", listed({ fundLossPerHourPpm: 30_000 })],
    ["open orders", listed({ maxOpenOrders: 501 })],
    ["a market's band", { ...listed(), markets: [wider, ETH.config] }],
    [
      "a market's leverage",
      {
        ...listed(),
        markets: [
          { ...BTC.config, tiers: BTC.config.tiers.map((tier) => ({ ...tier, maxLeverage: 10 })) },
          ETH.config,
        ],
      },
    ],
  ])("together, %s: refused; one after the other: taken", (name, both) => {
    const venue = sealed();
    if (name === "a market's leverage") {
      // Lower leverage is no raise: taken together with a listing.
      expect(configures(venue, both)).toBeNull();
      return;
    }
    expect(configures(venue, both)).toBe("configuration_raises_and_lists");
    expect(configures(venue, { ...both, markets: [both.markets[0]!] })).toBeNull();
    expect(configures(venue, both)).toBeNull();
    expect(venue.engine.state.markets).toHaveLength(2);
  });
});
