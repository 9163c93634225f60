/** `perpgate close`: one reduce-only order that closes a position, or a part of it. */

import { fromSteps, stepOf, toSteps } from "@perpgate/protocol/core";
import type { Market, NewOrder, Position } from "@perpgate/sdk";
import { StartError, UsageError } from "../cli/start-error.js";
import { placed } from "./order.js";
import { type SendingVenue, withSender } from "./sender.js";
import { howToSettleOrder, signingOf } from "./signed-request.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface CloseOptions extends VenueCommandOptions {
  readonly price?: number;
  readonly worstPrice?: number;
  /** Above 0, at most 1. */
  readonly part?: number;
  readonly receipt?: string;
}

/** Dollars: the most that the venue takes for one order, and more than any position is worth. */
const MORE_THAN_ANY = 1_000_000_000;

export function close(symbol: string, options: CloseOptions): Promise<number> {
  const { price, worstPrice, receipt } = options;
  if (price !== undefined && worstPrice !== undefined) {
    throw new UsageError("give --price or --worst-price, not both");
  }
  return withSender(options, async (venue) => {
    const { position, market } = await heldIn(venue, symbol);
    const order = closing(position, market, options);
    const signing = signingOf(venue, undefined);
    // Not `close` itself: the position may be another one by then.
    const again = venue.hint(`${callOf(order)} --nonce ${signing.nonce}`);
    const settle = howToSettleOrder(venue.hint, signing.nonce, again);
    const { status } = await placed(venue, order, signing, settle, receipt);
    return status === "canceled" ? 1 : 0;
  });
}

/** @throws StartError if the account has no position there. */
export async function heldIn(
  { session, client, hint }: SendingVenue,
  symbol: string,
): Promise<{ readonly position: Position; readonly market: Market | undefined }> {
  // A symbol that is not listed is refused with the ones that are.
  const [positions, listed] = await Promise.all([
    session.positions(),
    client.markets(),
    client.ticker(symbol),
  ]);
  const position = positions.find((each) => each.symbol === symbol);
  if (position === undefined) {
    throw new StartError(`you have no position in ${symbol}; yours: ${hint("positions")}`);
  }
  return { position, market: listed.find((each) => each.symbol === symbol) };
}

function closing(
  { symbol, size }: Position,
  market: Market | undefined,
  { price, worstPrice, part = 1 }: CloseOptions,
): NewOrder {
  const side = size > 0 ? "short" : "long";
  const type = price === undefined ? "market" : "limit";
  const order = { symbol, side, type, leverage: 1, reduceOnly: true } as const;
  const priced = { ...order, price: price ?? worstPrice };
  // Reduce-only closes exactly what there is when it is executed, however much money it is for.
  if (part === 1 && type === "market") return { ...priced, margin: MORE_THAN_ANY };
  const lot = stepOf(market?.lotSize ?? Math.abs(size));
  const lots = Math.floor(toSteps(Math.abs(size), lot) * part + 1e-9);
  if (lots === 0) {
    throw new StartError(`that part of the position is less than a lot of ${market?.lotSize}`);
  }
  return { ...priced, size: fromSteps(lots, lot) };
}

/** The command that places the same order. */
function callOf({ side, symbol, type, margin, size, price }: NewOrder): string {
  return [
    side === "long" ? "buy" : "sell",
    symbol,
    ...(size === undefined ? [margin] : ["--size", size]),
    "--reduce-only",
    ...(price == null ? [] : [type === "limit" ? "--price" : "--worst-price", price]),
  ].join(" ");
}
