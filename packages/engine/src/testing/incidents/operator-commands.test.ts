/**
 * Drift, 1 April 2026. Administrators of the protocol were led to sign transactions that never
 * expire. Weeks later they were sent, one after the other: they took over the administration, listed
 * a worthless token, lifted the limits on withdrawals, and $285 million were gone in twelve minutes.
 *
 * Here: every operator command carries an expiry and is refused after it; ten are executed a minute
 * at most; one that both raises a limit and lists or resumes a market is refused.
 */
import { describe, expect, test } from "vitest";
import type { MarketConfig, VenueConfig } from "../../config.js";
import { addressOf, setCohort } from "../commands.js";
import { BTC, ETH, venueConfig } from "../scenarios/listing.js";
import { Venue } from "../scenarios/venue.js";

const MINUTE_MS = 60_000;

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
  test("a command that was prepared and sent later: refused, whatever its stamp says", () => {
    const venue = new Venue();
    const before = venue.config.backstopCapMicros;
    const config = { ...venue.config, backstopCapMicros: 2 * before };
    const times = { stampMs: venue.now, expiresAtMs: venue.now + MINUTE_MS };
    const prepared = { kind: "Configure", ...times, config } as const;
    venue.resumes(venue.now + 14 * 24 * 60 * MINUTE_MS);
    for (const stampMs of [prepared.stampMs, venue.now]) {
      venue.apply({ ...prepared, stampMs });
      expect(venue.refusal).toBe("command_expired");
    }
    expect(venue.engine.state.config!.backstopCapMicros).toBe(before);
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
    expect(venue.happened("CommandRefused")[0]?.detail1).toBe(first + MINUTE_MS);
    venue.restarts();
    venue.resumes(first + MINUTE_MS - 1);
    expect(venue.controls("resume")).toBe("operator_rate_limit");
    venue.resumes(first + MINUTE_MS);
    expect(venue.controls("resume")).toBeNull();
  });

  test("within any minute: each of ten, two seconds apart, makes room for one a minute later", () => {
    const venue = new Venue();
    const pauses = (isPaused: boolean): string | null =>
      venue.operates({ kind: "PauseDeposits", scope: "ethereum", isPaused });
    for (let i = 0; i < 10; i++) {
      expect(pauses(i % 2 === 0), `command ${i}`).toBeNull();
      venue.waits(2);
    }
    venue.waits(41);
    expect([pauses(true), pauses(false)]).toEqual([null, "operator_rate_limit"]);
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
  const changed = (changes: Partial<MarketConfig>) => {
    return { ...listed(), markets: [{ ...BTC.config, ...changes }, ETH.config] };
  };

  test.each<[string, VenueConfig]>([
    ["the backstop's cap", listed({ backstopCapMicros: 9_000_000e6 })],
    ["the fund's loss an hour", listed({ fundLossPerHourPpm: 30_000 })],
    ["open orders", listed({ maxOpenOrders: 501 })],
    ["another market's band", changed({ bandPpm: BTC.config.bandPpm * 2 })],
    ["another market's jump", changed({ maxIndexJumpPpm: BTC.config.maxIndexJumpPpm + 1 })],
  ])("together, %s: refused; one after the other: taken", (_, both) => {
    const venue = sealed();
    expect(configures(venue, both)).toBe("configuration_raises_and_lists");
    expect(venue.engine.state.markets).toHaveLength(1);
    expect(configures(venue, { ...both, markets: [both.markets[0]!] })).toBeNull();
    expect(configures(venue, both)).toBeNull();
    expect(venue.engine.state.markets).toHaveLength(2);
  });

  test("a lower leverage is no raise: taken together with a listing", () => {
    const tiers = BTC.config.tiers.map((tier) => ({ ...tier, maxLeverage: 10 }));
    expect(configures(sealed(), changed({ tiers }))).toBeNull();
  });
});
