/** `perpgate markets`: every market with its prices and rules. */

import type { Market } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { decimalsOf, fixed, percent, time } from "../cli/quantities.js";
import type { Column } from "../cli/table.js";
import { VENUE_OPTIONS, withVenue } from "./connection.js";

export const MARKETS: Command = {
  usage: ["markets [--json]"],
  about: `Every market: its prices, the steps of price and size, the highest leverage, the fees of
maker and taker, the funding per hour and when it is due.`,
  options: VENUE_OPTIONS,
  examples: [["markets --json", "all of it, tiers included"]],
  run: markets,
};

const price = (value: number | null, { tickSize }: Market) => fixed(value, decimalsOf(tickSize));

const COLUMNS: readonly Column<Market>[] = [
  { title: "symbol", cell: ({ symbol }) => ({ text: symbol, tone: "strong" }) },
  { title: "mark", align: "right", cell: (market) => price(market.markPrice, market) },
  { title: "index", align: "right", cell: (market) => price(market.indexPrice, market) },
  { title: "funding/h", align: "right", cell: ({ fundingRate }) => percent(fundingRate) },
  { title: "next (UTC)", cell: ({ nextFundingAt }) => time(nextFundingAt).slice(-8) },
  { title: "leverage", align: "right", cell: ({ maxLeverage }) => `${maxLeverage}x` },
  { title: "tick", align: "right", cell: ({ tickSize: step }) => fixed(step, decimalsOf(step)) },
  { title: "lot", align: "right", cell: ({ lotSize: step }) => fixed(step, decimalsOf(step)) },
  { title: "maker", align: "right", cell: ({ makerFee }) => percent(makerFee, 3) },
  { title: "taker", align: "right", cell: ({ takerFee }) => percent(takerFee, 3) },
  {
    title: "status",
    cell: ({ status }) => ({ text: status, tone: status === "active" ? "plain" : "bad" }),
  },
];

async function markets(args: Arguments): Promise<number> {
  args.atMost(0);
  return withVenue(args, async ({ client, output }) => {
    output.rows(COLUMNS, await client.markets(), "no markets");
    return 0;
  });
}
