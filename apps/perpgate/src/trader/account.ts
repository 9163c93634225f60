/** `perpgate account`: money, and what the session may do. */

import type { Account } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { duration, money, time } from "../cli/quantities.js";
import type { Cell } from "../cli/table.js";
import { type TradingVenue, VENUE_OPTIONS, withSession } from "./connection.js";

export const ACCOUNT: Command = {
  usage: ["account [--json]"],
  about: "Your money, what of it is free, and what this session may do and until when.",
  options: VENUE_OPTIONS,
  examples: [["account", "your money and your session"]],
  run: account,
};

async function account(args: Arguments): Promise<number> {
  args.atMost(0);
  return withSession(args, show);
}

async function show({ session, output, profile, url }: TradingVenue): Promise<number> {
  const facts = await session.account();
  if (output.isJson) {
    output.json(facts);
    return 0;
  }
  output.line(facts.address);
  output.list([
    ["equity", money(facts.equity)],
    ["balance", money(facts.balance)],
    ["available", money(facts.available)],
    ["reserved", `${money(facts.reserved)} by open orders`],
    ["margin", `${money(facts.positionMargin)} in positions`],
    [
      "cohort",
      facts.cohort ? "may open positions" : { text: "may not open positions", tone: "bad" },
    ],
    ...sessionLines(facts),
    ["profile", `${profile.name} at ${url}`],
  ]);
  return 0;
}

function sessionLines({ session }: Account): (readonly [string, Cell])[] {
  const { expiresAt, kind, scope } = session;
  const limits = [
    scope.maxOrderNotional === null ? "" : `${money(scope.maxOrderNotional)} an order`,
    scope.maxNotional === null ? "" : `${money(scope.maxNotional)} in all`,
    scope.symbols === null ? "" : `${scope.symbols.join(", ")} only`,
  ].filter(Boolean);
  return [
    [
      "session",
      `${kind} key, ends in ${duration(expiresAt - Date.now())} (${time(expiresAt)} UTC)`,
    ],
    ...(limits.length === 0 ? [] : [["limits", limits.join("; ")] as const]),
  ];
}
