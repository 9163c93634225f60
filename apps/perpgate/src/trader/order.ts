/**
 * `perpgate buy` and `perpgate sell`: one order, and its preconfirmation in plain words.
 *
 * The nonce comes from the profile's ledger, so that two calls at the same time never share one. If
 * the answer is lost, the nonce is told, and the same call with `--nonce` places nothing twice.
 */

import type { NewOrder, Order, PlacedOrder, Side } from "@perpgate/sdk";
import type { Arguments, Command, OptionRules } from "../cli/command.js";
import { fee, latency, money, signed } from "../cli/quantities.js";
import { StartError } from "../cli/start-error.js";
import { signTone } from "../cli/style.js";
import type { Cell } from "../cli/table.js";
import { amountOf, optionalAmount, optionalWhole, symbolOf } from "../cli/values.js";
import { type TradingVenue, VENUE_OPTIONS, withSession } from "./connection.js";
import { Interruption } from "./interruption.js";
import { type MarketWords, marketWords } from "./market-steps.js";
import { claimNonce } from "./nonce-ledger.js";

type OrderKind = Order["type"];

const OPTIONS: OptionRules = {
  leverage: { kind: "text", value: "N", help: "margin × leverage is traded (1)" },
  price: { kind: "text", value: "P", help: "a limit order at this price" },
  stop: { kind: "text", value: "P", help: "a stop order: waits until the mark reaches this price" },
  "worst-price": { kind: "text", value: "P", help: "a market order, and no further than this" },
  "reduce-only": { kind: "flag", help: "only closes; margin × leverage is then a ceiling" },
  "post-only": { kind: "flag", help: "with --price: rests, or is refused if it would trade" },
  nonce: { kind: "text", value: "N", help: "repeats an order whose answer was lost" },
  ...VENUE_OPTIONS,
};

function orderCommand(name: "buy" | "sell", side: Side): Command {
  const other = name === "buy" ? "short" : "long";
  return {
    usage: [`${name} <symbol> <margin> [--leverage N] [--price P | --stop P] [options]`],
    about: `${name === "buy" ? "Buys" : "Sells"} for margin × leverage dollars: at the market, or at a limit with --price, or when the
mark reaches --stop. The answer is durable and says what was filled, at which price and fee,
the position after it, and the block that will hold it. Exit code 1 also if nothing was filled
and nothing waits.`,
    options: OPTIONS,
    examples: [
      [`${name} BTCUSD 100 --leverage 5`, "for 500 dollars, at the market"],
      [`${name} BTCUSD 100 --price 65000 --post-only`, "rests in the book"],
      [`${name} BTCUSD 100000 --reduce-only`, `closes a ${other} position, whatever its size`],
    ],
    run: (args) => trade(args, side),
  };
}

export const BUY = orderCommand("buy", "long");
export const SELL = orderCommand("sell", "short");

async function trade(args: Arguments, side: Side): Promise<number> {
  const order = orderOf(args, side);
  return withSession(args, (venue) => placed(venue, order));
}

async function placed(venue: TradingVenue, order: NewOrder): Promise<number> {
  const wordsFor = await marketWords(venue.client);
  const nonce = order.nonce ?? claimNonce(venue.profile.ledgerPath(venue.session.token));
  const startedAt = performance.now();
  const ack = await place(venue, { ...order, nonce });
  const elapsedHereMs = performance.now() - startedAt;
  if (venue.output.isJson) venue.output.json(ack);
  else show(venue, order.type, ack, wordsFor(ack.symbol), elapsedHereMs);
  return ack.status === "canceled" && ack.filledSize === 0 ? 1 : 0;
}

/** Ctrl-C while the order is under way leaves open what became of it; that must be said. */
async function place(
  { session }: TradingVenue,
  order: NewOrder & { readonly nonce: number },
): Promise<PlacedOrder> {
  const interruption = new Interruption();
  try {
    return await session.placeOrder(order, { signal: interruption.signal, retries: 5 });
  } catch (error) {
    if (!interruption.hasHappened) throw error;
    throw new StartError(
      `stopped before the answer came; whether the order was placed says ` +
        `perpgate orders --all --nonce ${order.nonce}`,
    );
  } finally {
    interruption.end();
  }
}

function orderOf(args: Arguments, side: Side): NewOrder {
  const symbol = symbolOf(args, args.positional(0, "symbol", 2));
  const margin = amountOf(args, "margin", args.positional(1, "margin", 2));
  const { type, price } = kindOf(args);
  const leverage = optionalWhole(args, "leverage") ?? 1;
  const nonce = optionalWhole(args, "nonce");
  return {
    symbol,
    side,
    type,
    margin,
    leverage,
    price,
    reduceOnly: args.has("reduce-only"),
    postOnly: args.has("post-only"),
    nonce,
  };
}

function kindOf(args: Arguments): { readonly type: OrderKind; readonly price: number | undefined } {
  const limit = optionalAmount(args, "price");
  const stop = optionalAmount(args, "stop");
  const worst = optionalAmount(args, "worst-price");
  if ([limit, stop, worst].filter((price) => price !== undefined).length > 1) {
    throw args.fail("give one of --price, --stop and --worst-price");
  }
  if (args.has("post-only") && limit === undefined) throw args.fail("--post-only needs --price");
  if (limit !== undefined) return { type: "limit", price: limit };
  if (stop !== undefined) return { type: "stop", price: stop };
  return { type: "market", price: worst };
}

function show(
  { output }: TradingVenue,
  type: OrderKind,
  ack: PlacedOrder,
  words: MarketWords,
  elapsedHereMs: number,
): void {
  const tone = ack.status === "canceled" ? "bad" : "good";
  output.line(`${output.paint(ack.status, tone)}  ${sentence(type, ack, words)}`);
  output.list([
    ["order", ack.replayed ? `${ack.orderId} (placed by an earlier try)` : ack.orderId],
    ["fee", fee(ack.feePaid)],
    ["position", positionCell(ack, words)],
    ["block", String(ack.expectedBlock)],
    ["latency", `${latency(ack.elapsedMs)} at the gateway, ${latency(elapsedHereMs)} from here`],
  ]);
}

function sentence(type: OrderKind, ack: PlacedOrder, { size, price, base }: MarketWords): string {
  const { side, filledSize, remainingSize, avgFillPrice, status, reason, symbol } = ack;
  const verb = side === "long" ? "bought" : "sold";
  const filled = `${verb} ${size(filledSize)} ${base} at ${price(avgFillPrice)}`;
  const left = `${size(remainingSize)} ${base}`;
  const parts = filledSize > 0 ? [filled] : [];
  if (status === "resting") parts.push(`${left} waits in the book`);
  if (status === "pending") parts.push(`${left} waits for its trigger`);
  if (status === "canceled") {
    const why = reason === null ? "" : `: ${reason.replaceAll("_", " ")}`;
    parts.push(`${left} was not filled${why}`);
  }
  return `${parts.join(", ")} (${symbol}, ${type})`;
}

function positionCell(ack: PlacedOrder, { size, price, base }: MarketWords): Cell {
  const { size: held, avgEntry, unrealizedPnl } = ack.positionAfter;
  if (held === 0) return "flat";
  const side = held > 0 ? "long" : "short";
  const pnl = signed(unrealizedPnl, money);
  const text = `${side} ${size(Math.abs(held))} ${base} from ${price(avgEntry)}, unrealised ${pnl}`;
  return { text, tone: signTone(unrealizedPnl) };
}
