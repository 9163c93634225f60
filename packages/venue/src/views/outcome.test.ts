import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EVENT, EventLog, REFUSALS } from "@perpgate/engine";
import { expect, onTestFinished, test } from "vitest";
import { firstOwnEvent } from "../event-fields.js";
import { TestVenue } from "../testing/index.js";
import { commandOutcome } from "./outcome.js";

/** The events of a command that broke an invariant and ran again. */
function afterHalt(...own: readonly number[]): EventLog {
  const events = new EventLog();
  const words = [EVENT.MarketHalted, 0, 1, ...own];
  events.words.set(words);
  events.length = words.length;
  return events;
}

test("a command that halted its market: its own refusal behind the halt counts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "perpgate-outcome-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { venue } = await TestVenue.open(folder);
  const refusal = REFUSALS.indexOf("market_halted");
  const events = afterHalt(EVENT.CommandRefused, refusal, 7, 8);
  expect(commandOutcome({ events, timeMs: 0 }, venue.listing)).toEqual({
    kind: "refused",
    refusal: "market_halted",
    detail1: 7,
    detail2: 8,
  });
  await venue.close();
});

test("a halt and nothing else: no event of its own", () => {
  const events = afterHalt();
  expect(firstOwnEvent(events)).toBe(events.length);
});
