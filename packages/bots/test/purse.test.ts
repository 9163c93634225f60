/** A bot's money against a real gateway: one that lost its money is back with other money. */

import { botWallet } from "@perpgate/bots";
import { expect, test } from "vitest";
import { Purse } from "../src/account/purse.js";
import { eventually, LivingVenue } from "./living-venue.js";

test("below its capital: deposits until it has that again, and no more", async () => {
  const { client } = await LivingVenue.start();
  const session = await client.signIn({ account: botWallet(1, "gambler 1") });
  const { equity: before } = await session.account();
  const purse = new Purse(before + 15_000);
  expect(await purse.look(session, 0)).toEqual({ isInCohort: true, isFunded: false });
  // Two deposits of ten thousand each are credited, with the venue's time.
  await eventually(async () => {
    const { equity } = await session.account();
    return equity === before + 20_000 ? true : undefined;
  });
  expect(await purse.look(session, 0)).toEqual({ isInCohort: true, isFunded: true });
});
