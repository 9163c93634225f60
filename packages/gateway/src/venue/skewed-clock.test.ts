/** Sign-ins where the venue's time and the wall clock differ, because one of them was wrong. */

import { describe, expect, test } from "vitest";
import { newFolder, type RunningVenue, runVenue, START_MS } from "./testing/running-venue.js";
import { newSessionKey, Trader } from "./testing/trader.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A venue that was started once with a clock ahead of time, which is correct now. */
async function venueAhead(byMs: number): Promise<RunningVenue> {
  const directory = newFolder();
  const first = await runVenue({ directory, startMs: START_MS + byMs });
  await first.stop();
  const second = await runVenue({ directory, startMs: START_MS });
  expect(second.venue.nowMs() - second.venue.wallMs()).toBe(byMs);
  return second;
}

/** A venue whose clock has jumped ahead while it runs and is not trusted. */
async function venueBehind(byMs: number): Promise<RunningVenue> {
  const directory = newFolder();
  const first = await runVenue({ directory });
  await first.stop();
  let shiftMs = 0;
  const running = await runVenue({ directory, clock: (nowMs) => nowMs + shiftMs });
  shiftMs = byMs;
  return running;
}

describe("sign-in: the venue's time is ahead of the wall clock", () => {
  test.each([
    ["an hour", HOUR_MS],
    ["six years", 6 * 365 * DAY_MS],
  ])(
    "by %s: signs in, trades, and the session lasts as long as the message says",
    async (_, ms) => {
      const at = await venueAhead(ms);
      const trader = new Trader(at);
      const expiresAt = START_MS + 60_000;
      const answer = await trader.signIn({ expirationTime: new Date(expiresAt).toISOString() });
      expect(answer.status).toBe(200);
      expect(trader.expiresAt).toBe(expiresAt);
      await at.setIndex("BTCUSD", 65_000);
      expect((await trader.place(trader.limit("long", 60_000))).status).toBe(200);
      await at.advance(58_000);
      expect((await trader.get("/v1/account")).status).toBe(200);
      await at.advance(3_000);
      expect((await trader.get("/v1/account")).body.code).toBe("invalid_token");
    },
  );

  test("rotation, account and session list state the end that sign-in stated", async () => {
    const at = await venueAhead(HOUR_MS);
    const trader = await Trader.enter(at);
    const { expiresAt } = trader;
    const rotated = await trader.rotate(newSessionKey().publicHex);
    expect(rotated).toMatchObject({ status: 200, body: { expiresAt } });
    expect((await trader.get("/v1/account")).body).toMatchObject({ session: { expiresAt } });
    expect(await trader.list("/v1/auth/sessions")).toMatchObject([{ expiresAt }]);
  });

  test("a message is accepted once, also long after its nonce would be forgotten by log time", async () => {
    const at = await venueAhead(HOUR_MS);
    const trader = new Trader(at);
    const message = trader.message();
    expect((await trader.submitSignIn(message)).status).toBe(200);
    // Nonces are forgotten by ticks; the message is young by the wall clock all the time.
    await at.advance(60_000);
    expect((await trader.submitSignIn(message)).body.code).toBe("siwe_nonce_used");
    await at.advance(8 * 60_000);
    expect((await trader.submitSignIn(message)).body.code).toBe("siwe_nonce_used");
  });
});

test("sign-in: the venue's time is behind an untrusted clock: the clock decides", async () => {
  const at = await venueBehind(2 * HOUR_MS);
  const trader = new Trader(at);
  const byClock = { issuedAt: new Date(START_MS + 2 * HOUR_MS).toISOString() };
  expect((await trader.signIn(byClock)).status).toBe(200);
  expect((await trader.get("/v1/account")).status).toBe(200);
  const byLog = { issuedAt: new Date(START_MS).toISOString() };
  expect((await trader.signIn(byLog)).body.code).toBe("siwe_message_too_old");
});
