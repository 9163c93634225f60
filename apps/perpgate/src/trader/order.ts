/**
 * `perpgate buy` and `perpgate sell`: one order, and its preconfirmation as text.
 *
 * The nonce comes from the profile's ledger, so that concurrent calls never share one. If the answer
 * is lost, the nonce is printed, and the same call with `--nonce` places nothing twice.
 */

import type { BatchResult, NewOrder, Order, PlacedOrder, Side, TimeInForce } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { fee, latency, money, signed } from "../cli/quantities.js";
import { reasonOf, StartError, UsageError } from "../cli/start-error.js";
import { signTone } from "../cli/style.js";
import type { Cell } from "../cli/table.js";
import { isNoLongerOpen } from "./cancel.js";
import { type TradingVenue, withSession } from "./connection.js";
import { type MarketFormat, marketFormats } from "./market-format.js";
import { receiptsChecked, requireWritable, saveReceipt } from "./receipts.js";
import { expiryFor, nonceFor, sendSigned } from "./signed-request.js";
import type { VenueOptions } from "./venue-command.js";

type OrderKind = Order["type"];

/** Exit code: the order was taken, so it must not be sent again, but not all of its exits were. */
const EXIT_REFUSED = 3;

export interface OrderOptions extends VenueOptions {
  readonly leverage?: number;
  readonly price?: number;
  readonly stop?: number;
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
  const { type, price } = kindOf(options);
  const { tif: timeInForce, clientId: clientOrderId, expiresIn } = options;
  const order: NewOrder = {
    ...{ symbol, side, type, margin, leverage, price, reduceOnly, postOnly },
    ...{ size, timeInForce, clientOrderId },
  };
  const withTerms = (venue: TradingVenue): SignedOrder => {
    const nonce = nonceFor(venue, options.nonce);
    const isRepeat = options.nonce !== undefined;
    return { nonce, isRepeat, order: { ...order, expiresAt: expiryFor(nonce, expiresIn) } };
  };
  const { tp: takeProfit, sl: stopLoss } = options;
  if (options.receipt !== undefined && (takeProfit ?? stopLoss) !== undefined) {
    throw new UsageError("--receipt is for one order; leave out --tp and --sl");
  }
  if (takeProfit === undefined && stopLoss === undefined) {
    return withSession(options, (venue) => placed(venue, withTerms, options.receipt));
  }
  return withSession(options, (venue) =>
    placedWithExits(venue, withTerms, { takeProfit, stopLoss }),
  );
}

interface SignedOrder {
  readonly nonce: number;
  readonly isRepeat: boolean;
  readonly order: NewOrder;
}

interface Exits {
  readonly takeProfit: number | undefined;
  readonly stopLoss: number | undefined;
}

/**
 * The order and its exits in one batch. The venue judges each part alone, so that exits may be taken for
 * an earlier position although the order was not: these are canceled again.
 */
async function placedWithExits(
  venue: TradingVenue,
  withTerms: (venue: TradingVenue) => SignedOrder,
  { takeProfit, stopLoss }: Exits,
): Promise<number> {
  const { session, output, client } = venue;
  const formatOf = await marketFormats(client);
  const { nonce, isRepeat, order } = withTerms(venue);
  const { symbol } = order;
  const side: Side = order.side === "long" ? "short" : "long";
  const exit = { op: "place", symbol, side, type: "stop", closePosition: true } as const;
  const exits = [
    ...(takeProfit === undefined
      ? []
      : [{ ...exit, trigger: "takeProfit" as const, price: takeProfit }]),
    ...(stopLoss === undefined ? [] : [{ ...exit, trigger: "stop" as const, price: stopLoss }]),
  ];
  const operations = [{ op: "place", ...order } as const, ...exits];
  const { results, replayed } = await sendSigned(venue, "change", { nonce, isRepeat }, (call) =>
    session.batch(operations, { nonce, ...call }),
  );
  if (output.isJson) output.json({ results, replayed });
  else showResults(venue, order.type, results, formatOf(symbol), replayed);
  const [entry, ...rest] = results;
  if (entry?.ack === undefined || isUnfilled(entry.ack)) {
    const waiting = rest.flatMap(({ ack }) => (ack?.status === "pending" ? [ack.orderId] : []));
    await cancelExits(venue, waiting);
    return 1;
  }
  return rest.every(({ status }) => status === 200) ? 0 : EXIT_REFUSED;
}

/** Tries all of them; then throws if some may still wait. */
export async function cancelExits(
  { session, output }: Pick<TradingVenue, "session" | "output">,
  orderIds: readonly string[],
): Promise<void> {
  const left: string[] = [];
  let failure: unknown;
  for (const orderId of orderIds) {
    try {
      await session.cancelOrder(orderId);
      output.remark(printable(`canceled the exit ${orderId}, since the order was not taken`));
    } catch (error) {
      if (isNoLongerOpen(error)) continue;
      left.push(orderId);
      failure = error;
    }
  }
  if (left.length === 0) return;
  throw new StartError(
    `the order was not taken, and its exits may still wait (${reasonOf(failure)}): ` +
      `perpgate cancel ${left.join(" ")}`,
  );
}

function isUnfilled({ status, filledSize }: Pick<PlacedOrder, "status" | "filledSize">): boolean {
  return status === "canceled" && filledSize === 0;
}

export function showResults(
  { output }: Pick<TradingVenue, "output">,
  type: OrderKind,
  results: readonly BatchResult[],
  format: MarketFormat,
  replayed: boolean,
): void {
  results.forEach(({ ack, error }, index) => {
    const what = index === 0 ? type : "exit";
    if (ack !== undefined)
      output.line(`${printable(ack.status)}  ${sentence(what, { ...ack, replayed }, format)}`);
    else {
      const message = printable(error?.message ?? "");
      output.line(`${output.paint("refused", "bad")}  ${message} (${what})`);
    }
  });
}

async function placed(
  venue: TradingVenue,
  withTerms: (venue: TradingVenue) => SignedOrder,
  receiptFile: string | undefined,
): Promise<number> {
  if (receiptFile !== undefined) requireWritable(receiptFile);
  const formatOf = await marketFormats(venue.client);
  const { order, ...signing } = withTerms(venue);
  const startedAt = performance.now();
  const ack = await sendSigned(venue, "order", signing, (call) =>
    venue.session.placeOrder({ ...order, nonce: signing.nonce }, call),
  );
  const elapsedHereMs = performance.now() - startedAt;
  if (receiptFile !== undefined) await receiptsChecked(venue.session);
  if (venue.output.isJson) venue.output.json(ack);
  else show(venue, order.type, ack, formatOf(ack.symbol), elapsedHereMs);
  // In the same turn: a reader of the output that is gone ends the process in the next one.
  if (receiptFile !== undefined) {
    saveReceipt(venue.session, ack.ackNonce, receiptFile, venue.output);
  }
  return isUnfilled(ack) ? 1 : 0;
}

function kindOf({ price, stop, worstPrice, postOnly }: OrderOptions): {
  readonly type: OrderKind;
  readonly price: number | undefined;
} {
  if ([price, stop, worstPrice].filter((given) => given !== undefined).length > 1) {
    throw new UsageError("give one of --price, --stop and --worst-price");
  }
  if (postOnly === true && price === undefined) throw new UsageError("--post-only needs --price");
  if (price !== undefined) return { type: "limit", price };
  if (stop !== undefined) return { type: "stop", price: stop };
  return { type: "market", price: worstPrice };
}

/** The acknowledgement of an order or an amendment, as text. */
export function show(
  { output }: Pick<TradingVenue, "output">,
  type: string,
  ack: PlacedOrder,
  format: MarketFormat,
  elapsedHereMs: number,
): void {
  const tone = ack.status === "canceled" ? "bad" : "good";
  output.line(`${output.paint(printable(ack.status), tone)}  ${sentence(type, ack, format)}`);
  output.list([
    ["order", ack.replayed ? `${ack.orderId} (placed by an earlier try)` : ack.orderId],
    ["fee", fee(ack.feePaid)],
    ["position", positionCell(ack, format)],
    ["block", String(ack.expectedBlock)],
    ["latency", `${latency(ack.elapsedMs)} at the gateway, ${latency(elapsedHereMs)} from here`],
  ]);
}

function sentence(type: string, ack: PlacedOrder, { size, price, base }: MarketFormat): string {
  const { side, filledSize, remainingSize, avgFillPrice, status, reason, symbol } = ack;
  const verb = side === "long" ? "bought" : "sold";
  const filled = `${verb} ${size(filledSize)} ${base} at ${price(avgFillPrice)}`;
  const left = `${size(remainingSize)} ${base}`;
  const parts = filledSize > 0 ? [filled] : [];
  if (status === "resting") parts.push(`${left} waits in the book`);
  if (status === "pending") {
    // One that closes the position has no size of its own.
    parts.push(`${remainingSize === 0 ? "the whole position" : left} waits for its trigger`);
  }
  if (status === "canceled") {
    const why = reason === null ? "" : `: ${reason.replaceAll("_", " ")}`;
    parts.push(`${left} was not filled${why}`);
  }
  return printable(`${parts.join(", ")} (${symbol}, ${type})`);
}

function positionCell(ack: PlacedOrder, { size, price, base }: MarketFormat): Cell {
  const { size: held, avgEntry, unrealizedPnl } = ack.positionAfter;
  if (held === 0) return "flat";
  const side = held > 0 ? "long" : "short";
  const pnl = signed(unrealizedPnl, money);
  const text = `${side} ${size(Math.abs(held))} ${base} from ${price(avgEntry)}, unrealised ${pnl}`;
  return { text, tone: signTone(unrealizedPnl) };
}
