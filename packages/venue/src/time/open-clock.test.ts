/** The clock of a venue across starts. */
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  removeFolder,
  START_MS,
  signInCommand,
  TestVenue,
  temporaryFolder,
} from "../testing/test-venue.js";
import type { VenueOptions } from "../venue-options.js";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

let folder = "";
let wall = START_MS;
let elapsedMs = 1_000;
beforeEach(async () => {
  folder = await temporaryFolder();
  wall = START_MS;
  elapsedMs = 1_000;
});
afterEach(() => removeFolder(folder));

function open(more: Partial<VenueOptions> = {}): Promise<TestVenue> {
  return TestVenue.open(folder, {
    clock: () => wall,
    monotonic: () => elapsedMs,
    bootClock: () => ({ boot: "one", elapsedMs }),
    ...more,
  });
}

async function firstLife(): Promise<void> {
  const { venue } = await open();
  await venue.close();
}

/** Real time passes. */
function pass(ms: number): void {
  wall += ms;
  elapsedMs += ms;
}

test("a start with the clock two years ahead: doubted; sign-ins and the right clock work after", async () => {
  await firstLife();
  pass(5_000);
  wall += 2 * YEAR_MS;
  const errors: string[] = [];
  const logger = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: object, message: string) => errors.push(message),
  };
  const wrong = await open({ logger });
  expect(wrong.venue.nowMs()).toBe(START_MS + 5_000);
  expect(wrong.venue.views.timeMs).toBe(START_MS + 5_000);
  expect(wrong.venue.clockLeadMs).toBe(2 * YEAR_MS);
  expect(wrong.venue.clockJumps.doubted).toBe(1);
  expect(errors).toEqual([expect.stringContaining("restart with --accept-clock")]);
  await wrong.venue.close();
  wall -= 2 * YEAR_MS;
  pass(1_000);
  const right = await open();
  expect(right.venue.nowMs()).toBe(START_MS + 6_000);
  const { command, evidence } = signInCommand(1, "first", wall);
  const { outcome } = await right.submit(command, evidence);
  expect(outcome.kind).not.toBe("refused");
  await right.venue.close();
});

test("a start a month after the last, without a boot between: no flag, the wall clock", async () => {
  await firstLife();
  pass(30 * 24 * HOUR_MS);
  const { venue } = await open();
  expect(venue.nowMs()).toBe(wall);
  expect(venue.clockJumps).toEqual({ followed: 0, doubted: 0, back: 0 });
  await venue.close();
});

test("a start two years ahead after a boot: refused, nothing is appended; accepted with the flag", async () => {
  await firstLife();
  wall += 2 * YEAR_MS;
  const otherBoot = { bootClock: () => ({ boot: "two", elapsedMs: 10 }) };
  await expect(open(otherBoot)).rejects.toMatchObject({ name: "ClockRefused" });
  const { venue } = await open({ ...otherBoot, acceptClock: true });
  // Genesis, WriterJoined and WriterLeft; then WriterJoined and AskTime.
  expect(venue.seq).toBe(5);
  expect(venue.nowMs()).toBe(wall);
  await venue.close();
});

test("a start with the clock set back: the log's time goes on", async () => {
  await firstLife();
  wall -= YEAR_MS;
  elapsedMs += 5_000;
  const { venue } = await open();
  expect(venue.nowMs()).toBe(START_MS);
  elapsedMs += 400;
  expect(venue.nowMs()).toBe(START_MS + 400);
  expect(venue.clockJumps.back).toBe(1);
  await venue.close();
});
