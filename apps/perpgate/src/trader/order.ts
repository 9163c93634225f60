/**
 * `perpgate buy` and `perpgate sell`: one order, and its preconfirmation as text.
 *
 * The nonce comes from the profile's ledger, so that concurrent calls never share one. If the answer
 * is lost, the nonce is printed, and the same call with `--nonce` places nothing twice.
 */

import type { NewOrder, Order, PlacedOrder, Side, TimeInForce, Trigger } from "@perpgate/sdk";
import { UsageError } from "../cli/start-error.js";
import { cancelExits, type Exits, exitOperations, markOf, requireRightSide } from "./exits.js";
import { formatIn, marketFormats } from "./market-format.js";
import { show, showResults } from "./order-text.js";
import { receiptsChecked, requireWritable, saveReceipt } from "./receipts.js";
import { type SendingVenue, withSender } from "./sender.js";
import {
  expiryFor,
  howToSettleChange,
  howToSettleOrder,
  type Signing,
  signingOf,
} from "./signed-request.js";
import type { VenueOptions } from "./venue-command.js";

/** Exit code: the order was taken, so it must not be sent again, but not all of its exits were. */
const EXIT_REFUSED = 3;

export interface OrderOptions extends VenueOptions {
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
  readonly tp?: number;
  readonly sl?: number;
  readonly nonce?: number;
  readonly receipt?: string;
}

export async function placeOrder(
  side: Side,
  symbol: string,
  margin: number | undefined,
  options: OrderOptions,
): Promise<number> {
  const { leverage = 1, reduceOnly = false, postOnly = false, size } = options;
  if (margin === undefined && size === undefined) throw new UsageError("give a margin or --size");
  const { tif: timeInForce, clientId: clientOrderId, expiresIn } = options;
  const order: NewOrder = {
    ...{ symbol, side, margin, leverage, reduceOnly, postOnly, ...kindOf(options) },
    ...{ size, timeInForce, clientOrderId },
  };
  const { tp: takeProfit, sl: stopLoss, receipt } = options;
  const hasExits = (takeProfit ?? stopLoss) !== undefined;
  if (hasExits && receipt !== undefined) {
    throw new UsageError("--receipt is for one order; leave out --tp and --sl");
  }
  if (hasExits && reduceOnly) {
    throw new UsageError("--tp and --sl are for an order that opens; leave out --reduce-only");
  }
  return withSender(options, async (venue) => {
    const signing = signingOf(venue, options.nonce);
    const expiring = { ...order, expiresAt: expiryFor(signing.nonce, expiresIn) };
    if (hasExits) return placedWithExits(venue, expiring, signing, { takeProfit, stopLoss });
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

/**
 * The order and its exits in one batch. The venue judges each part alone, so that exits may be taken for
 * an earlier position although the order was not: these are canceled again.
 */
async function placedWithExits(
  venue: SendingVenue,
  order: NewOrder,
  { nonce, isRepeat }: Signing,
  exits: Exits,
): Promise<number> {
  const { session, sender, client } = venue;
  const { symbol, side, type, price, limitPrice } = order;
  const listed = await client.markets();
  const market = listed.find((each) => each.symbol === symbol);
  const own = { name: "the order's price", price: limitPrice ?? price };
  // The mark has moved since the first try, which may have been executed.
  const references = isRepeat ? [own] : [own, markOf(market)];
  requireRightSide(side, exits, references, market?.tickSize);
  const operations = [{ op: "place", ...order } as const, ...exitOperations(symbol, side, exits)];
  const sent = {
    what: `${nameOf(order, nonce)}, with its exits`,
    settle: howToSettleChange(nonce),
  };
  const answer = await sender.send(sent, (call) =>
    session.batch(operations, { nonce, ...call, retries: 5, isRepeat }),
  );
  const names = operations.map((_, index) => (index === 0 ? type : "exit"));
  showResults(venue, names, answer, formatIn(listed, symbol));
  const [entry, ...rest] = answer.results;
  if (entry?.ack === undefined || isUnfilled(entry.ack)) {
    const waiting = rest.flatMap(({ ack }) => (ack?.status === "pending" ? [ack.orderId] : []));
    await cancelExits(venue, waiting);
    return 1;
  }
  return rest.every(({ status }) => status === 200) ? 0 : EXIT_REFUSED;
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
