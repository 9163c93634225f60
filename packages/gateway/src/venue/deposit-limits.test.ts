/** What one client address may take of what all share, over HTTP and by a real venue. */

import { expect, test } from "vitest";
import { runVenue } from "./testing/running-venue.js";
import { Trader } from "./testing/trader.js";

const deposit = (i: number) => ({
  chain: "ethereum",
  txHash: i.toString(16).padStart(64, "0"),
  token: "USDC",
});

test("deposits of the dev attestor: two accounts of one address share its limit", async () => {
  const at = await runVenue({ limits: { addressDepositsPerMinute: 3 } });
  const [first, second] = [await Trader.enter(at), await Trader.enter(at)];
  expect((await first.send("/v1/bridge/deposit", deposit(1))).status).toBe(202);
  expect((await first.send("/v1/bridge/deposit", deposit(2))).status).toBe(202);
  expect((await second.send("/v1/bridge/deposit", deposit(3))).status).toBe(202);
  const refused = await second.send("/v1/bridge/deposit", deposit(4));
  expect(refused).toMatchObject({
    status: 429,
    body: { code: "rate_limited", details: { limit: "address-deposits" } },
  });
});

test("first sign-ins with a grant: limited by address; accounts that exist sign in on", async () => {
  const at = await runVenue({ limits: { newAccountsPerMinute: 1, newAccountsBurst: 2 } });
  const known = await Trader.enter(at);
  await Trader.enter(at);
  const refused = await new Trader(at).signIn();
  expect(refused).toMatchObject({
    status: 429,
    body: { code: "rate_limited", details: { limit: "new-accounts" } },
  });
  expect((await known.signIn()).status).toBe(200);
});
