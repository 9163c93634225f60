/** `perpgate orders`: what rests or waits, or everything there ever was. */

import type { Order } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { money, time } from "../cli/quantities.js";
import type { Column } from "../cli/table.js";
import { optionalWhole } from "../cli/values.js";
import { VENUE_OPTIONS, withSession } from "./connection.js";
import { type MarketWords, marketWords } from "./market-steps.js";

export const ORDERS: Command = {
  usage: ["orders [--all] [--nonce N] [--json]"],
  about:
    "Your orders that rest in a book or wait for their trigger; with --all the ended ones too.",
  options: {
    all: { kind: "flag", help: "also filled and canceled ones" },
    nonce: { kind: "text", value: "N", help: "only the one with this nonce" },
    ...VENUE_OPTIONS,
  },
  examples: [["orders --all --nonce 41", "what became of an order whose answer was lost"]],
  run: orders,
};

function columns(wordsFor: (symbol: string) => MarketWords): Column<Order>[] {
  return [
    { title: "order", align: "right", cell: ({ orderId }) => orderId },
    { title: "symbol", cell: ({ symbol }) => symbol },
    { title: "side", cell: ({ side }) => ({ text: side, tone: side === "long" ? "good" : "bad" }) },
    { title: "type", cell: typeOf },
    { title: "price", align: "right", cell: ({ symbol, price }) => wordsFor(symbol).price(price) },
    { title: "size", align: "right", cell: ({ symbol, size }) => wordsFor(symbol).size(size) },
    {
      title: "filled",
      align: "right",
      cell: ({ symbol, filledSize }) => wordsFor(symbol).size(filledSize),
    },
    { title: "margin", align: "right", cell: ({ margin }) => money(margin) },
    { title: "leverage", align: "right", cell: ({ leverage }) => `${leverage}x` },
    { title: "created (UTC)", cell: ({ createdAt }) => time(createdAt) },
    {
      title: "status",
      cell: ({ status, reason }) => (reason === null ? status : `${status}: ${reason}`),
    },
  ];
}

function typeOf({ type, reduceOnly, postOnly }: Order): string {
  return [type, reduceOnly ? "reduce" : "", postOnly ? "post" : ""].filter(Boolean).join(" ");
}

async function orders(args: Arguments): Promise<number> {
  args.atMost(0);
  const nonce = optionalWhole(args, "nonce");
  const status = args.has("all") ? "all" : "open";
  return withSession(args, async ({ client, session, output }) => {
    const [rows, wordsFor] = await Promise.all([
      session.orders({ status, ...(nonce === undefined ? {} : { nonce }) }),
      marketWords(client),
    ]);
    output.rows(columns(wordsFor), rows, status === "all" ? "no orders" : "no open orders");
    return 0;
  });
}
