/** `perpgate cancel`: orders by their ids, or all, or all of one market. */

import type { CanceledOrder } from "@perpgate/sdk";
import type { Arguments, Command } from "../cli/command.js";
import { symbolOf } from "../cli/values.js";
import { type TradingVenue, VENUE_OPTIONS, withSession } from "./connection.js";

export const CANCEL: Command = {
  usage: ["cancel <order id…>", "cancel --all [--symbol SYMBOL]"],
  about: "Cancels orders. What was filled before stays filled.",
  options: {
    all: { kind: "flag", help: "every open order" },
    symbol: { kind: "text", value: "SYMBOL", help: "with --all: of this market only" },
    ...VENUE_OPTIONS,
  },
  examples: [
    ["cancel 48213", "the order with this id"],
    ["cancel --all --symbol BTCUSD", "all of one market"],
  ],
  run: cancel,
};

async function cancel(args: Arguments): Promise<number> {
  const { positionals: ids } = args;
  const symbolText = args.text("symbol");
  if (args.has("all")) {
    if (ids.length > 0) throw args.fail("give order ids or --all, not both");
    const symbol = symbolText === undefined ? undefined : symbolOf(args, symbolText);
    return withSession(args, (venue) => cancelAll(venue, symbol));
  }
  if (ids.length === 0) throw args.fail("<order id> is missing");
  if (symbolText !== undefined) throw args.fail("--symbol goes with --all");
  const strange = ids.find((id) => !/^\d{1,16}$/.test(id));
  if (strange !== undefined)
    throw args.fail(`"${strange}" is no order id; perpgate orders lists them`);
  return withSession(args, (venue) => cancelEach(venue, ids));
}

async function cancelAll(
  { session, output }: TradingVenue,
  symbol: string | undefined,
): Promise<number> {
  const { canceled } = await session.cancelAll(symbol === undefined ? {} : { symbol });
  if (output.isJson) output.json({ canceled });
  else output.line(canceled.length === 0 ? "nothing to cancel" : `canceled ${canceled.join(" ")}`);
  return 0;
}

/** One after the other: the first that cannot be canceled stops it, and those before are told. */
async function cancelEach(
  { session, output }: TradingVenue,
  ids: readonly string[],
): Promise<number> {
  const done: CanceledOrder[] = [];
  try {
    for (const id of ids) {
      const canceled = await session.cancelOrder(id);
      done.push(canceled);
      if (!output.isJson) {
        output.line(`canceled ${canceled.orderId}, ${canceled.remainingSize} was open`);
      }
    }
  } finally {
    if (output.isJson && done.length > 0)
      output.json({ canceled: done.map(({ orderId }) => orderId) });
  }
  return 0;
}
