/** `perpgate logout`: ends the session at the venue and forgets it here; the wallet's key stays. */

import { rmSync } from "node:fs";
import { PerpgateError } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { type TradingVenue, VENUE_OPTIONS, withSession } from "./connection.js";

export const LOGOUT: Command = {
  usage: ["logout [--cancel-all] [--profile NAME]"],
  about: `Ends the session at the venue and forgets it here. Orders that rest stay, unless
--cancel-all is given. The wallet's key stays too: the next login is the same account.`,
  options: {
    "cancel-all": { kind: "flag", help: "cancel all open orders first" },
    ...VENUE_OPTIONS,
  },
  examples: [["logout --cancel-all", "leave nothing in the books"]],
  run: logout,
};

async function logout(args: Arguments): Promise<number> {
  args.atMost(0);
  return withSession(args, (venue) => end(venue, args.has("cancel-all")));
}

async function end(venue: TradingVenue, isCancelingAll: boolean): Promise<number> {
  const { session, profile, known, output } = venue;
  let isOver = false;
  let canceled: readonly string[] = [];
  try {
    if (isCancelingAll) ({ canceled } = await session.cancelAll());
    await session.signOut();
  } catch (error) {
    // A session that has ended by itself is what was asked for, unless orders were to go with it.
    isOver = error instanceof PerpgateError && error.code === "invalid_token";
    if (!isOver || isCancelingAll) throw error;
  }
  if (known !== undefined) profile.write({ ...known, session: null });
  rmSync(profile.ledgerPath(session.token), { force: true });
  const { address } = session;
  if (output.isJson) output.json({ profile: profile.name, address, canceled });
  else {
    if (isCancelingAll)
      output.line(`${canceled.length} ${canceled.length === 1 ? "order" : "orders"} canceled`);
    output.line(`Logged out ${address}${isOver ? " (the session was over already)" : ""}`);
  }
  return 0;
}
