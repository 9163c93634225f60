/** `perpgate protect`: the take-profit and the stop-loss of a position. */

import { protectionOf } from "@perpgate/sdk";
import { UsageError } from "../cli/start-error.js";
import { heldIn } from "./close.js";
import { type Exits, markOf, requireRightSide } from "./exits.js";
import { formatOf, UNLISTED } from "./market-format.js";
import { showResults } from "./order-text.js";
import { withSender } from "./sender.js";
import { signingOf } from "./signed-request.js";
import type { VenueOptions } from "./venue-command.js";

export interface ProtectOptions extends VenueOptions {
  /** False for `--no-tp`. */
  readonly tp?: number | false;
  /** False for `--no-sl`. */
  readonly sl?: number | false;
}

export function protect(symbol: string, options: ProtectOptions): Promise<number> {
  const { tp, sl } = options;
  if (tp === undefined && sl === undefined) {
    throw new UsageError("give --tp, --sl, --no-tp or --no-sl");
  }
  const exits: Exits = { takeProfit: priceOf(tp), stopLoss: priceOf(sl) };
  return withSender(options, async (venue) => {
    const { session, sender, output, hint } = venue;
    const [{ position, market }, open] = await Promise.all([
      heldIn(venue, symbol),
      session.openOrders(),
    ]);
    const { side } = position;
    requireRightSide(side, exits, [markOf(market)], market?.tickSize);
    const format = market === undefined ? UNLISTED : formatOf(market);
    const { takeProfit, stopLoss } = exits;
    const changes = [
      { name: "take-profit", price: takeProfit, exit: { takeProfit } },
      { name: "stop-loss", price: stopLoss, exit: { stopLoss } },
    ].flatMap(({ name, price, exit }) =>
      protectionOf({ symbol, side, ...exit }, open).map((operation) => ({
        operation,
        name: typeof price === "number" ? `${name} at ${format.price(price)}` : name,
      })),
    );
    if (changes.length === 0) {
      if (output.isJson) output.json({ results: [] });
      else output.line("nothing to change");
      return 0;
    }
    const { nonce } = signingOf(venue, undefined);
    const sent = {
      what: `protect ${symbol}`,
      settle: `ask: ${hint("orders")}, or repeat the command, which changes what is not set yet`,
    };
    const answer = await sender.send(sent, (call) =>
      session.batch(
        changes.map(({ operation }) => operation),
        { nonce, ...call, retries: 5 },
      ),
    );
    const names = changes.map(({ name }) => name);
    showResults(venue, names, answer, format);
    return answer.results.every(({ status }) => status === 200) ? 0 : 1;
  });
}

function priceOf(given: number | false | undefined): number | null | undefined {
  return given === false ? null : given;
}
