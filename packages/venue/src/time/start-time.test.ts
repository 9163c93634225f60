import { describe, expect, test } from "vitest";
import { ClockRefused } from "../venue-errors.js";
import { MAX_UNPROVEN_STOP_MS, type StartClocks, startTime } from "./start-time.js";

const LOG_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

const UNKNOWN: StartClocks = {
  wallMs: LOG_MS,
  logMs: LOG_MS,
  record: undefined,
  boot: undefined,
  isAccepted: false,
};

/** A record from the log's last time, and a start some time later in the same boot. */
function sameBoot(stoppedMs: number): StartClocks {
  return {
    ...UNKNOWN,
    record: { boot: "one", elapsedMs: 1_000, timeMs: LOG_MS },
    boot: { boot: "one", elapsedMs: 1_000 + stoppedMs },
  };
}

describe("startTime: in the boot of the last record", () => {
  test.each([
    ["a minute", 60_000],
    ["an hour", HOUR_MS],
    ["two years", 2 * YEAR_MS],
  ])("stopped for %s: the wall clock, without a flag", (_, stoppedMs) => {
    const wallMs = LOG_MS + stoppedMs;
    expect(startTime({ ...sameBoot(stoppedMs), wallMs })).toBe(wallMs);
  });

  test.each([
    ["an hour", HOUR_MS],
    ["two years", 2 * YEAR_MS],
  ])("stopped for a second, the clock ahead by %s: the time that has passed", (_, aheadMs) => {
    const wallMs = LOG_MS + 1_000 + aheadMs;
    expect(startTime({ ...sameBoot(1_000), wallMs })).toBe(LOG_MS + 1_000);
  });

  test("the clock accepted: the wall clock", () => {
    const wallMs = LOG_MS + 2 * YEAR_MS;
    expect(startTime({ ...sameBoot(1_000), wallMs, isAccepted: true })).toBe(wallMs);
  });

  test("the clock set back: the log's time", () => {
    expect(startTime({ ...sameBoot(DAY_MS), wallMs: LOG_MS - HOUR_MS })).toBe(LOG_MS);
  });
});

describe("startTime: in another boot, or without a record", () => {
  const later = { boot: { boot: "two", elapsedMs: 5_000 }, record: sameBoot(0).record };

  test.each([
    ["an hour", HOUR_MS],
    ["a week", MAX_UNPROVEN_STOP_MS],
  ])("stopped for %s: the wall clock, without a flag", (_, stoppedMs) => {
    const wallMs = LOG_MS + stoppedMs;
    expect(startTime({ ...UNKNOWN, wallMs })).toBe(wallMs);
    expect(startTime({ ...UNKNOWN, ...later, wallMs })).toBe(wallMs);
  });

  test("two years ahead: refused with both times", () => {
    const start = () => startTime({ ...UNKNOWN, ...later, wallMs: LOG_MS + 2 * YEAR_MS });
    expect(start).toThrow(ClockRefused);
    expect(start).toThrow(
      /the clock says 2029-01-14T08:00:00.000Z, 730.0 days after .* 2027-01-15T08:00:00.000Z/,
    );
  });

  test("two years ahead and accepted: the wall clock", () => {
    const wallMs = LOG_MS + 2 * YEAR_MS;
    expect(startTime({ ...UNKNOWN, wallMs, isAccepted: true })).toBe(wallMs);
  });

  test("the clock set back: the log's time", () => {
    expect(startTime({ ...UNKNOWN, wallMs: 0 })).toBe(LOG_MS);
  });

  test("a new log: the wall clock", () => {
    expect(startTime({ ...UNKNOWN, logMs: undefined, wallMs: 5 })).toBe(5);
  });
});
