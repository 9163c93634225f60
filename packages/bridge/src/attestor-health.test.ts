import { expect, test } from "vitest";
import { AttestorHealth } from "./attestor-health.js";
import { VenueUnreachable } from "./venue-port.js";

function healthAt() {
  const time = { nowMs: 1_000_000 };
  return { time, health: new AttestorHealth(WATCHED, () => time.nowMs) };
}

const WATCHED = {
  attestors: [{ index: 0 }, { index: 2 }],
  chains: [{ chain: "ethereum" }, { chain: "tron" }],
} as const;
const ONE = { attestors: [{ index: 0 }], chains: [{ chain: "ethereum" }] } as const;

const NEW_HEAD = { headAgeMs: 12_000, isHeadOld: false };
const polled = (chain: "ethereum" | "tron", attestor = 0) =>
  ({
    kind: "Polled",
    chain,
    attestor,
    pending: 0,
    votes: 0,
    endpoints: 1,
    isIdle: false,
    ...NEW_HEAD,
  }) as const;
const failed = {
  kind: "PollFailed",
  chain: "ethereum",
  attestor: 0,
  of: "deposits",
  error: new VenueUnreachable("the venue cannot be reached: ECONNREFUSED"),
} as const;
const differs = (chain: "ethereum" | "tron", attestor = 0) =>
  ({ kind: "ConfigurationDiffers", chain, attestor, difference: "vault: a, b" }) as const;

test("a failed poll: ready; failing for over a minute: not ready, with the reason", () => {
  const { time, health } = healthAt();
  health.observe(failed);
  expect(health.notReadyReason()).toBeUndefined();
  time.nowMs += 60_001;
  health.observe(failed);
  expect(health.notReadyReason()).toContain("ethereum are not attested: the venue cannot be");
  health.observe(polled("ethereum"));
  expect(health.notReadyReason()).toBeUndefined();
});

test("polls of withdrawals that fail: not ready after a minute, whatever polls of deposits do", () => {
  const { time } = healthAt();
  const health = new AttestorHealth({ ...ONE, signing: {} }, () => time.nowMs);
  const error = new Error("1 endpoints answered, and 2 must agree");
  const failing = { ...failed, of: "withdrawals", error } as const;
  const watched = { kind: "WithdrawalsPolled", of: "requests", chain: "ethereum" } as const;
  for (let minute = 0; minute < 2; minute++) {
    health.observe(polled("ethereum"));
    health.observe({ ...watched, attestor: 0 });
    health.observe(failing);
    time.nowMs += 60_001;
  }
  health.observe(polled("ethereum"));
  expect(health.notReadyReason()).toBe(
    "withdrawals of ethereum are not attested: 1 endpoints answered, and 2 must agree",
  );
  health.observe({ kind: "WithdrawalsPolled", of: "withdrawals", chain: "ethereum", attestor: 0 });
  expect(health.notReadyReason()).toBeUndefined();
  time.nowMs += 600_001;
  health.observe(polled("ethereum"));
  expect(health.notReadyReason()).toContain("withdrawals of ethereum are not attested: no poll");
  health.observe({ kind: "WithdrawalsPolled", of: "withdrawals", chain: "ethereum", attestor: 0 });
  expect(health.notReadyReason()).toContain("requests of ethereum are not watched: no poll");
  // A process that signs nothing watches no withdrawals.
  const other = new AttestorHealth(ONE, () => time.nowMs);
  other.observe(failing);
  time.nowMs += 60_001;
  expect(other.notReadyReason()).toBeUndefined();
});

test("a configuration that differs from the venue's: not ready after a minute", () => {
  const { time, health } = healthAt();
  time.nowMs += 60_001;
  health.observe(differs("tron"));
  expect(health.notReadyReason()).toContain("tron are not attested: vault");
});

test("a configuration that differs, for a process that trades: ready, also after a failed poll", () => {
  const { time } = healthAt();
  const ofVenue = new AttestorHealth(ONE, () => time.nowMs, "polls");
  ofVenue.observe(failed);
  time.nowMs += 60_001;
  ofVenue.observe(differs("ethereum"));
  expect(ofVenue.notReadyReason()).toBeUndefined();
  time.nowMs += 600_001;
  expect(ofVenue.notReadyReason()).toContain("no poll has ended for 600 s");
});

test("two attestors, one of which has another key than the venue: not ready", () => {
  const { time, health } = healthAt();
  time.nowMs += 60_001;
  health.observe(differs("ethereum", 2));
  health.observe(polled("ethereum"));
  expect(health.notReadyReason()).toContain("ethereum are not attested: vault");
  health.observe(polled("ethereum", 2));
  expect(health.notReadyReason()).toBeUndefined();
});

test("polls that never end: not ready", () => {
  const { time, health } = healthAt();
  time.nowMs += 600_001;
  health.observe(polled("ethereum"));
  health.observe(polled("ethereum", 2));
  expect(health.notReadyReason()).toContain("tron are not attested: no poll has ended for 600 s");
});

test("an old head: not ready until a new one is read, unless heads do not count", () => {
  const { time, health } = healthAt();
  const ofVenue = new AttestorHealth(ONE, () => time.nowMs, "polls");
  const unread = { ...polled("ethereum"), headAgeMs: null };
  for (const each of [health, ofVenue]) {
    each.observe({ ...polled("ethereum"), headAgeMs: 400_000, isHeadOld: true });
    each.observe(unread);
  }
  expect(health.notReadyReason()).toContain(
    "the newest block of enough RPC endpoints is 400 s old",
  );
  expect(ofVenue.notReadyReason()).toBeUndefined();
  health.observe(polled("ethereum"));
  expect(health.notReadyReason()).toBeUndefined();
});
