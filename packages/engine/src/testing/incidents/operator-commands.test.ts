/**
 * Drift, 1 April 2026. Administrators of the protocol were led to sign transactions that never
 * expire. Weeks later they were sent, one after the other: they took over the administration, listed
 * a worthless token, lifted the limits on withdrawals, and $285 million were gone in twelve minutes.
 *
 * Here: every operator command carries an expiry and is refused after it; ten are executed a minute
 * at most; one that both raises a limit and lists or resumes a market is refused.
 */
import { describe, expect, test } from "vitest";
import type { Configure } from "../../commands.js";
import { Engine } from "../../engine.js";
import { BTC } from "../scenarios/listing.js";
import { Venue } from "../scenarios/venue.js";
import { THIN } from "./scene.js";

const MINUTE_MS = 60_000;

function configure(venue: Venue, changes: Partial<Configure["config"]>): Configure {
  const stampMs = venue.now;
  const config = { ...venue.engine.state.config!, ...changes };
  return { kind: "Configure", stampMs, expiresAtMs: stampMs + MINUTE_MS, config };
}

describe("operator commands", () => {
  test("a command that was prepared and sent later: refused, and nothing changes", () => {
    const venue = new Venue();
    const prepared = configure(venue, { backstopCapMicros: 9_000_000_000_000 });
    venue.resumes(venue.now + 14 * 24 * 60 * MINUTE_MS);
    const before = venue.engine.state.config!.backstopCapMicros;
    venue.apply(prepared);
    expect(venue.refusal).toBe("command_expired");
    venue.apply({ ...prepared, stampMs: venue.now });
    expect(venue.refusal).toBe("command_expired");
    expect(venue.engine.state.config!.backstopCapMicros).toBe(before);
  });

  test("the eleventh within a minute: refused, also after a restore; later it is executed", () => {
    const venue = new Venue();
    let isPaused = false;
    const pauses = (): string | null => {
      isPaused = !isPaused;
      return venue.operates({ kind: "PauseDeposits", scope: "ethereum", isPaused });
    };
    for (let i = 0; i < 10; i++) {
      expect(pauses(), `command ${i}`).toBeNull();
      venue.waits(2);
    }
    expect(pauses()).toBe("operator_rate_limit");
    venue.engine = Engine.restore(venue.engine.snapshot());
    expect(pauses()).toBe("operator_rate_limit");
    venue.waits(41);
    expect(pauses()).toBeNull();
  });

  test("all kinds of operator commands share the ten", () => {
    const venue = new Venue();
    const market = 0;
    for (let i = 0; i < 10; i++) {
      const stampMs = venue.now;
      const expiresAtMs = stampMs + MINUTE_MS;
      const action = i % 2 === 0 ? "halt" : "resume";
      venue.apply({ kind: "ControlMarket", stampMs, expiresAtMs, market, action, priceTicks: 0 });
      expect(venue.refusal).toBeNull();
    }
    venue.apply(configure(venue, {}));
    expect(venue.refusal).toBe("operator_rate_limit");
  });

  test("a market listed and a limit raised in one command: refused; one after the other: executed", () => {
    const venue = new Venue();
    const { markets, backstopCapMicros } = venue.engine.state.config!;
    const listed = [...markets, THIN.config];
    const raised = backstopCapMicros + 1;
    venue.apply(configure(venue, { markets: listed, backstopCapMicros: raised }));
    expect(venue.refusal).toBe("configuration_raises_and_lists");
    expect(venue.engine.state.markets).toHaveLength(1);
    venue.apply(configure(venue, { markets: listed }));
    expect(venue.refusal).toBeNull();
    venue.apply(configure(venue, { backstopCapMicros: raised }));
    expect(venue.refusal).toBeNull();
  });

  test("a limit of another market raised while one is listed: refused as well", () => {
    const venue = new Venue();
    const { markets } = venue.engine.state.config!;
    const wider = { ...BTC.config, maxIndexJumpPpm: BTC.config.maxIndexJumpPpm + 1 };
    venue.apply(configure(venue, { markets: [wider, ...markets.slice(1), THIN.config] }));
    expect(venue.refusal).toBe("configuration_raises_and_lists");
  });
});
