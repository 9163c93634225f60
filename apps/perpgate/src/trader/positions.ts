/** `perpgate positions`: what is held, what it earned, and where it would be liquidated. */

import type { Position } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { fixed, money, signed } from "../cli/quantities.js";
import { signTone } from "../cli/style.js";
import type { Cell, Column } from "../cli/table.js";
import { VENUE_OPTIONS, withSession } from "./connection.js";
import { type MarketWords, marketWords } from "./market-steps.js";

export const POSITIONS: Command = {
  usage: ["positions [--json]"],
  about: `Your positions, one per market: entry, mark, the price at which it would be liquidated, margin,
and what it has earned.`,
  options: VENUE_OPTIONS,
  examples: [["positions", "what you hold"]],
  run: positions,
};

function pnl(value: number): Cell {
  return { text: signed(value, money), tone: signTone(value) };
}

function columns(wordsFor: (symbol: string) => MarketWords): Column<Position>[] {
  const price =
    (field: "avgEntry" | "markPrice" | "liquidationPrice") =>
    (position: Position): string =>
      wordsFor(position.symbol).price(position[field]);
  return [
    { title: "symbol", cell: ({ symbol }) => ({ text: symbol, tone: "strong" }) },
    { title: "side", cell: ({ side }) => ({ text: side, tone: side === "long" ? "good" : "bad" }) },
    {
      title: "size",
      align: "right",
      cell: ({ symbol, size }) => wordsFor(symbol).size(Math.abs(size)),
    },
    { title: "entry", align: "right", cell: price("avgEntry") },
    { title: "mark", align: "right", cell: price("markPrice") },
    { title: "liquidation", align: "right", cell: price("liquidationPrice") },
    { title: "margin", align: "right", cell: ({ margin }) => money(margin) },
    { title: "leverage", align: "right", cell: ({ leverage }) => `${fixed(leverage, 1)}x` },
    { title: "unrealised", align: "right", cell: ({ unrealizedPnl }) => pnl(unrealizedPnl) },
    { title: "realised", align: "right", cell: ({ realizedPnl }) => pnl(realizedPnl) },
    { title: "funding paid", align: "right", cell: ({ fundingPaid }) => money(fundingPaid) },
  ];
}

async function positions(args: Arguments): Promise<number> {
  args.atMost(0);
  return withSession(args, async ({ client, session, output }) => {
    const [rows, wordsFor] = await Promise.all([session.positions(), marketWords(client)]);
    output.rows(columns(wordsFor), rows, "no positions");
    return 0;
  });
}
