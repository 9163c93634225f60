/** Sign-ins where the venue's time and the wall clock differ, because one of them was wrong. */

import { verify } from "@perpgate/venue";
import { describe, expect, test } from "vitest";
import type { SiweFields } from "../auth/testing/siwe-text.js";
import { recoverWallet } from "./testing/recover-wallet.js";
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

test.each([
  ["right", () => runVenue()],
  ["an hour behind the log", () => venueAhead(HOUR_MS)],
  ["six years behind the log", () => venueAhead(6 * 365 * DAY_MS)],
  ["two hours ahead of the log", () => venueBehind(2 * HOUR_MS)],
])("verify --signatures: sign-ins of every form agree, by a clock that is %s", async (_, start) => {
  const at = await start();
  const wallMs = at.venue.wallMs();
  const issuedAt = new Date(wallMs).toISOString();
  const after = (ms: number) => new Date(wallMs + ms).toISOString();
  const caps = "&maxOrderNotional=100.25&maxNotional=5000&symbols=ETHUSD,BTCUSD";
  const forms: ((trader: Trader) => SiweFields)[] = [
    () => ({}),
    () => ({ expirationTime: after(60_000), notBefore: after(-60_000), requestId: "Nonce:1" }),
    () => ({ expirationTime: after(400 * DAY_MS) }),
    (trader) => ({ resources: [trader.resource()], expirationTime: after(29 * DAY_MS) }),
    (trader) => ({ resources: ["https://a.example/terms", trader.resource(caps)] }),
    (trader) => ({ resources: [trader.resource(caps), "urn:perpgate:sessions?key=00"] }),
    (trader) => ({ statement: `- ${trader.resource("&maxNotional=1")}` }),
    (trader) => ({ statement: "Resources:", resources: [trader.resource()] }),
    () => ({ statement: "Nonce: nonce12345", resources: [] }),
    () => ({ statement: "", expirationTime: after(DAY_MS).replace("Z", "999+00:00") }),
    () => ({ issuedAt: after(60_000), expirationTime: after(120_000) }),
    () => ({ issuedAt: after(-590_000) }),
  ];
  for (const fields of forms) {
    const trader = new Trader(at);
    const answer = await trader.signIn({ issuedAt, ...fields(trader) });
    expect(answer.status, answer.text).toBe(200);
  }
  await at.stop();
  const report = await verify(at.directory, { signatures: recoverWallet });
  expect(report).toMatchObject({ fault: null, sessions: forms.length });
});

test("verify --signatures: a clock set back between two sign-ins of one message: listed, no fault", async () => {
  let shiftMs = 0;
  const at = await runVenue({ clock: (nowMs) => nowMs + shiftMs });
  const trader = new Trader(at);
  // Its nonce is forgotten twelve minutes after this.
  const issuedAt = new Date(START_MS - 9.5 * 60_000).toISOString();
  const message = trader.message({ issuedAt });
  expect((await trader.submitSignIn(message)).status).toBe(200);
  await at.advance(3 * 60_000);
  expect((await trader.submitSignIn(message)).body.code).toBe("siwe_message_too_old");
  shiftMs = -3 * 60_000;
  expect((await trader.submitSignIn(message)).status).toBe(200);
  const [, again] = await trader.list("/v1/auth/sessions");
  await at.stop();
  const report = await verify(at.directory, { signatures: recoverWallet });
  expect(report).toMatchObject({ fault: null, sessions: 2, repeatedMessages: [Number(again?.id)] });
});
