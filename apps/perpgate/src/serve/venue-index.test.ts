import { INDEX_STALE_MS } from "@perpgate/protocol/core";
import { TestVenue } from "@perpgate/venue/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../testing/perpgate-process.js";
import { DEFAULT_SETTINGS } from "./settings.js";
import { createVenueIndex } from "./venue-index.js";

test("the machine's clock is set back by an hour: prices go on, and age by the venue's time", async () => {
  const time = { wallMs: 1_800_000_000_000, monotonicMs: 0 };
  const pass = (ms: number) => {
    time.wallMs += ms;
    time.monotonicMs += ms;
  };
  const wall = () => time.wallMs;
  const { venue } = await TestVenue.open(temporaryFolder(), {
    clock: wall,
    monotonic: () => time.monotonicMs,
  });
  onTestFinished(() => venue.close());
  const markets = DEFAULT_SETTINGS.markets.filter(({ symbol }) => symbol === "BTCUSD");
  const failures: unknown[] = [];
  const { feed } = createVenueIndex({ ...DEFAULT_SETTINGS, markets }, venue, wall, {
    onProblem: (problem) => failures.push(problem),
    onFailure: (error) => failures.push(error),
  });
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();

  time.wallMs -= 3_600_000;
  for (let round = 0; round < 3; round++) {
    const { seq: position } = venue;
    pass(250);
    await feed.refresh();
    expect(venue.seq, `round ${round}`).toBe(position + 1);
  }
  pass(INDEX_STALE_MS);
  expect(feed.notReadyReason()).toBeUndefined();
  pass(1);
  expect(feed.notReadyReason()).toContain("older than");
  await feed.refresh();
  expect(feed.notReadyReason()).toBeUndefined();
  expect(failures).toEqual([]);
});
