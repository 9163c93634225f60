/** `perpgate protect`: the take-profit and the stop-loss of a position. */

import { NotInUnits, stepOf, toSteps } from "@perpgate/protocol/core";
import { type Market, protectionOf, type Side } from "@perpgate/sdk";
import { UsageError } from "../cli/start-error.js";
import { heldIn } from "./close.js";
import { formatOf, UNLISTED } from "./market-format.js";
import { showResults } from "./order-text.js";
import { withSender } from "./sender.js";
import { signingOf } from "./signed-request.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface ProtectOptions extends VenueCommandOptions {
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
  const [takeProfit, stopLoss] = [priceOf(tp), priceOf(sl)];
  return withSender(options, async (venue) => {
    const { session, sender, output, hint } = venue;
    const [{ position, market }, open] = await Promise.all([
      heldIn(venue, symbol),
      session.openOrders(),
    ]);
    const { side } = position;
    requireBeyond("--sl", stopLoss, side === "short", side, market);
    requireBeyond("--tp", takeProfit, side === "long", side, market);
    const format = market === undefined ? UNLISTED : formatOf(market);
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

/** Null removes one, undefined leaves it. */
function priceOf(given: number | false | undefined): number | null | undefined {
  return given === false ? null : given;
}

/**
 * @throws UsageError for an exit that would close the position immediately, or at a price that the market
 *   does not have. The venue judges each order of a batch alone: it could take one exit and refuse the other.
 */
function requireBeyond(
  flag: string,
  price: number | null | undefined,
  isAbove: boolean,
  side: Side,
  market: Market | undefined,
): void {
  if (typeof price !== "number" || market === undefined) return;
  const { tickSize, markPrice } = market;
  if (!isOnTick(price, tickSize)) {
    throw new UsageError(`${flag} ${price} is not a whole number of ticks of ${tickSize}`);
  }
  if (markPrice === null || (isAbove ? price > markPrice : price < markPrice)) return;
  const where = isAbove ? "above" : "below";
  throw new UsageError(
    `${flag} ${price} of a ${side} position must be ${where} the mark price, ${markPrice}; nothing was sent`,
  );
}

function isOnTick(price: number, tickSize: number): boolean {
  try {
    toSteps(price, stepOf(tickSize));
    return true;
  } catch (error) {
    if (error instanceof NotInUnits) return false;
    throw error;
  }
}
