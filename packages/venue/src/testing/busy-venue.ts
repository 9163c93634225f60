/** A venue with rows in almost every table of its history, for tests that damage one. */
import { TICK_MS } from "@perpgate/engine";
import type { VenueOptions } from "../venue-options.js";
import { START_MS, TestVenue } from "./test-venue.js";

export interface BusyVenue {
  readonly driver: TestVenue;
  /** Sessions of two traders. */
  readonly sessions: readonly [number, number];
}

/** Trades, a resting order, a deposit and an hour of funding, all on the history's disk. */
export async function busyVenue(
  directory: string,
  more: Partial<VenueOptions> = {},
): Promise<BusyVenue> {
  const driver = await TestVenue.open(directory, more);
  await driver.index();
  const sessions = [await driver.signIn(1), await driver.signIn(2)] as const;
  await driver.submit({
    kind: "RegisterDeposit",
    stampMs: START_MS,
    session: sessions[0],
    chain: "ethereum",
    token: "USDC",
    txHash: "ab".repeat(32),
  });
  for (let nonce = 1; nonce <= 4; nonce++) {
    await driver.order(sessions[0], nonce, "short", 650_000 + nonce, 100);
    await driver.order(sessions[1], nonce, "long", 650_000 + nonce, 50);
    await driver.tick();
  }
  // An hour later the positions pay funding.
  const laterMs = START_MS + 3_600_000;
  await driver.submit({ kind: "AskTime", stampMs: laterMs });
  await driver.index();
  await driver.submit({ kind: "Tick", slot: laterMs / TICK_MS + 1 });
  await driver.order(sessions[0], 5, "short", 655_000, 20);
  await driver.venue.history.flush();
  return { driver, sessions };
}
