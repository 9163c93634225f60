/** Deposits of a bot against a real gateway. */

import { expect, test } from "vitest";
import { botWallet } from "../crowd.js";
import { eventually, LivingVenue } from "../testing/living-venue.js";
import { BotFunds } from "./bot-funds.js";

test("below its capital: deposits until it has it, and no more", async () => {
  const { client } = await LivingVenue.start();
  const session = await client.signIn({ account: botWallet(1, "gambler 1") });
  const { equity: before } = await session.account();
  const funds = new BotFunds(before + 15_000);
  expect(await funds.check(session, 0)).toEqual({ isInCohort: true, isFunded: false });
  // Two deposits of ten thousand each are credited, with the venue's time.
  await eventually(async () => {
    const { equity } = await session.account();
    return equity === before + 20_000 ? true : undefined;
  });
  expect(await funds.check(session, 0)).toEqual({ isInCohort: true, isFunded: true });
});
