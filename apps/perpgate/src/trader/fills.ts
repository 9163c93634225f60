/** `perpgate fills`: what was traded, newest first. */

import type { Fill } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { fee, money, signed, time } from "../cli/quantities.js";
import { signTone } from "../cli/style.js";
import type { Column } from "../cli/table.js";
import { optionalWhole } from "../cli/values.js";
import { VENUE_OPTIONS, withSession } from "./connection.js";
import { type MarketWords, marketWords } from "./market-steps.js";

export const FILLS: Command = {
  usage: ["fills [--limit N] [--before ID] [--json]"],
  about: "Your fills, newest first; --before goes on from the last one shown.",
  options: {
    limit: { kind: "text", value: "N", help: "at most so many, up to 1000 (20)" },
    before: { kind: "text", value: "ID", help: "only older ones than this fill" },
    ...VENUE_OPTIONS,
  },
  examples: [["fills --limit 1000 --json", "for a spreadsheet"]],
  run: fills,
};

const DEFAULT_LIMIT = 20;

function columns(wordsFor: (symbol: string) => MarketWords): Column<Fill>[] {
  return [
    { title: "time (UTC)", cell: ({ time: at }) => time(at) },
    { title: "symbol", cell: ({ symbol }) => symbol },
    { title: "side", cell: ({ side }) => ({ text: side, tone: side === "long" ? "good" : "bad" }) },
    { title: "size", align: "right", cell: ({ symbol, size }) => wordsFor(symbol).size(size) },
    { title: "price", align: "right", cell: ({ symbol, price }) => wordsFor(symbol).price(price) },
    { title: "fee", align: "right", cell: ({ fee: paid }) => fee(paid) },
    {
      title: "realised",
      align: "right",
      cell: ({ realizedPnl }) => ({
        text: signed(realizedPnl, money),
        tone: signTone(realizedPnl),
      }),
    },
    { title: "as", cell: ({ liquidity, kind }) => (kind === "order" ? liquidity : kind) },
    { title: "order", align: "right", cell: ({ orderId }) => orderId ?? "-" },
    { title: "block", align: "right", cell: ({ block }) => String(block) },
    { title: "id", cell: ({ id }) => id },
  ];
}

async function fills(args: Arguments): Promise<number> {
  args.atMost(0);
  const limit = optionalWhole(args, "limit") ?? DEFAULT_LIMIT;
  const before = args.text("before");
  return withSession(args, async ({ client, session, output }) => {
    const [rows, wordsFor] = await Promise.all([
      session.fills({ limit, ...(before === undefined ? {} : { before }) }),
      marketWords(client),
    ]);
    output.rows(columns(wordsFor), rows, "no fills");
    return 0;
  });
}
