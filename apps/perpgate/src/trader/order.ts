/**
 * `perpgate buy` and `perpgate sell`: one order, and its preconfirmation as text.
 *
 * The nonce comes from the profile's ledger, so that concurrent calls never share one. If the answer
 * is lost, the nonce is printed, and the same call with `--nonce` places nothing twice.
 */

import type { Exit, NewOrder, Order, PlacedOrder, Side, TimeInForce, Trigger } from "@perpgate/sdk";
import { UsageError } from "../cli/start-error.js";
import { marketFormats } from "./market-format.js";
import { show } from "./order-text.js";
import { receiptsChecked, requireWritable, saveReceipt } from "./receipts.js";
import { type SendingVenue, withSender } from "./sender.js";
import { expiryFor, howToSettleOrder, type Signing, signingOf } from "./signed-request.js";
import type { VenueCommandOptions } from "./venue-command.js";

interface OrderOptions extends VenueCommandOptions {
  readonly leverage?: number;
  readonly price?: number;
  readonly stop?: number;
  readonly take?: number;
  readonly limit?: number;
  readonly worstPrice?: number;
  readonly reduceOnly?: boolean;
  readonly postOnly?: boolean;
  readonly size?: number;
  readonly tif?: TimeInForce;
  readonly expiresIn?: number;
  readonly clientId?: string;
  readonly tp?: Exit;
  readonly sl?: Exit;
  readonly nonce?: number;
  readonly receipt?: string;
}

export async function placeOrderCommand(
  side: Side,
  symbol: string,
  margin: number | undefined,
  options: OrderOptions,
): Promise<number> {
  const { leverage = 1, reduceOnly = false, postOnly = false, size } = options;
  if (margin === undefined && size === undefined) throw new UsageError("give a margin or --size");
  const { tif: timeInForce, clientId: clientOrderId, expiresIn } = options;
  const { tp: takeProfit, sl: stopLoss, receipt } = options;
  const kind = kindOf(options);
  if ((takeProfit ?? stopLoss) !== undefined && (reduceOnly || kind.type === "stop")) {
    const problem = reduceOnly ? "--reduce-only" : "--stop and --take";
    throw new UsageError(`--tp and --sl are for an order that opens now; leave out ${problem}`);
  }
  const order: NewOrder = {
    ...{ symbol, side, margin, leverage, reduceOnly, postOnly, ...kind },
    ...{ size, timeInForce, clientOrderId, takeProfit, stopLoss },
  };
  return withSender(options, async (venue) => {
    const signing = signingOf(venue, options.nonce);
    const expiring = { ...order, expiresAt: expiryFor(signing.nonce, expiresIn) };
    const settle = howToSettleOrder(venue.hint, signing.nonce);
    const ack = await placed(venue, expiring, signing, settle, receipt);
    return isUnfilled(ack) ? 1 : 0;
  });
}

/** Sends one order and prints what became of it. */
export async function placed(
  venue: SendingVenue,
  order: NewOrder,
  { nonce, isRepeat }: Signing,
  settle: string,
  receiptFile?: string,
): Promise<PlacedOrder> {
  const { session, sender, output } = venue;
  if (receiptFile !== undefined) requireWritable(receiptFile);
  const formatOf = await marketFormats(venue.client);
  const startedAt = performance.now();
  const ack = await sender.send({ what: nameOf(order, nonce), settle }, (call) =>
    session.placeOrder({ ...order, nonce }, { ...call, retries: 5, isRepeat }),
  );
  const elapsedHereMs = performance.now() - startedAt;
  if (receiptFile !== undefined) await receiptsChecked(session);
  if (output.isJson) output.json(ack);
  else show(venue, order.type, ack, formatOf(ack.symbol), elapsedHereMs);
  // In the same turn: a reader of the output that is gone ends the process in the next one.
  if (receiptFile !== undefined) saveReceipt(session, ack.ackNonce, receiptFile, output);
  return ack;
}

function nameOf({ side, symbol }: NewOrder, nonce: number): string {
  return `${side === "long" ? "buy" : "sell"} ${symbol}, nonce ${nonce}`;
}

function isUnfilled({ status, filledSize }: Pick<PlacedOrder, "status" | "filledSize">): boolean {
  return status === "canceled" && filledSize === 0;
}

interface Kind {
  readonly type: Order["type"];
  readonly price: number | undefined;
  readonly trigger?: Trigger;
  readonly limitPrice?: number | undefined;
}

function kindOf({ price, stop, take, limit, worstPrice, postOnly }: OrderOptions): Kind {
  if ([price, stop, take, worstPrice].filter((given) => given !== undefined).length > 1) {
    throw new UsageError("give one of --price, --stop, --take and --worst-price");
  }
  if (postOnly === true && price === undefined) throw new UsageError("--post-only needs --price");
  const trigger = stop ?? take;
  if (trigger !== undefined) {
    const terms = { type: "stop", price: trigger, limitPrice: limit } as const;
    return take === undefined ? terms : { ...terms, trigger: "takeProfit" };
  }
  if (limit !== undefined) throw new UsageError("--limit needs --stop or --take");
  return price === undefined ? { type: "market", price: worstPrice } : { type: "limit", price };
}
