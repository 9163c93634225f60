/** `perpgate markets`: every market with its prices and rules. */

import type { Market } from "@perpgate/sdk";
import { decimalsOf, fixed, percent, time } from "../cli/quantities.js";
import type { Column } from "../cli/table.js";
import { withVenue } from "./connection.js";
import type { VenueOptions } from "./venue-command.js";

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

export function markets(options: VenueOptions): Promise<number> {
  return withVenue(options, async ({ client, output }) => {
    output.rows(COLUMNS, await client.markets(), "no markets");
    return 0;
  });
}
