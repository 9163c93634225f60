/** Orders that close a position, and what its open orders protect. */

import type { Order, Position, PreconfirmAck, Side, Trigger } from "@perpgate/protocol";
import { fromSteps } from "@perpgate/protocol/core";
import type { NewOperation, NewOrder, Session } from "@perpgate/sdk";
import { worstTicks } from "../maths/worst-price.js";
import type { Terminal } from "../terminal.js";
import { t } from "../text/texts.js";
import { closedTextOf, type MarketView } from "../venue/market-view.js";
import { markOf } from "./order-context.js";
import { closingSlippagePpm } from "./order-settings.js";
import { requireAll } from "./outcome.js";
import { reasonText } from "./reasons.js";

function closingTerms({ symbol, size }: Position, closed: number) {
  const side: Side = size > 0 ? "short" : "long";
  // Reduce-only opens nothing, so the leverage means nothing.
  return { symbol, side, size: closed, leverage: 1, reduceOnly: true } as const;
}

/** At the market, no worse than the trader's own limit allows. */
export function marketClose(
  { marketFeed }: Terminal,
  view: MarketView,
  position: Position,
  size: number,
): NewOrder {
  const markTicks = markOf(marketFeed, view);
  const direction = position.size > 0 ? -1 : 1;
  const price =
    markTicks === undefined
      ? undefined
      : fromSteps(worstTicks(markTicks, direction, closingSlippagePpm()), view.units.tick);
  return { ...closingTerms(position, size), type: "market", price };
}

/** The mark moves between two presses: a market close is the same one although its worst price differs. */
export function closeSubject({ symbol }: Position, size: number | undefined): string {
  return `close ${size} ${symbol}`;
}

export function limitClose(position: Position, size: number, price: number): NewOrder {
  return { ...closingTerms(position, size), type: "limit", price };
}

/** Sends an order that closes a position, and says if the book did not take all of it. */
export async function sendClose(
  terminal: Terminal,
  session: Session,
  order: NewOrder,
  subject?: string,
): Promise<void> {
  const { ack } = await terminal.orders.place(session, order, subject);
  showUnfilled(terminal, [ack]);
}

/** Closes the position of a market, at the market; all positions without a symbol. */
export async function closeAtMarket(
  terminal: Terminal,
  session: Session,
  symbol: string | undefined,
): Promise<void> {
  const positions = terminal.account.positions.get();
  if (symbol === undefined) return closeAll(terminal, session, [...(positions?.values() ?? [])]);
  const position = positions?.get(symbol);
  const view = terminal.marketFeed.view(symbol);
  if (position === undefined || view === undefined) return;
  const order = marketClose(terminal, view, position, Math.abs(position.size));
  await sendClose(terminal, session, order, closeSubject(position, order.size));
}

/**
 * Closes all of these positions at the market, with one batch.
 *
 * @throws PerpgateError, that of the first close that was refused; the others may be executed.
 */
export async function closeAll(
  terminal: Terminal,
  session: Session,
  positions: readonly Position[],
): Promise<void> {
  const operations = positions.flatMap((position): NewOperation[] => {
    const view = terminal.marketFeed.view(position.symbol);
    if (view === undefined) return [];
    return [{ op: "place", ...marketClose(terminal, view, position, Math.abs(position.size)) }];
  });
  const name = { subject: "close-all", title: t.form.closeBatch };
  const answer = await terminal.orders.batch(session, operations, name);
  showUnfilled(
    terminal,
    answer.results.flatMap(({ ack }) => ack ?? []),
  );
  requireAll(answer);
}

/** Why none of these positions can be closed; undefined if some can. */
export function closedTextOfAll(
  { marketFeed }: Pick<Terminal, "marketFeed">,
  positions: readonly Position[],
): string | undefined {
  const texts = positions.map(({ symbol }) => closedTextOf(marketFeed.view(symbol)));
  return texts.includes(undefined) ? undefined : texts[0];
}

function showUnfilled({ toasts }: Terminal, acks: readonly PreconfirmAck[]): void {
  const unfilled = acks.filter(({ status }) => status === "canceled");
  if (unfilled.length === 0) return;
  const why = unfilled.map(({ symbol, reason, filledSize }) =>
    reason === null ? t.form.notFilled(symbol) : `${symbol}: ${reasonText(reason, filledSize > 0)}`,
  );
  toasts.show("bad", t.form.notAllClosed, why.join(" "));
}

/** Exits of orders that cover a part of the position. */
export function attachedExits(
  orders: ReadonlyMap<string, Order> | undefined,
  { symbol, side }: Pick<Position, "symbol" | "side">,
  trigger: Trigger,
): Order[] {
  return [...(orders?.values() ?? [])].filter(
    (order) =>
      order.parentOrderId !== undefined &&
      order.remainingSize > 0 &&
      order.symbol === symbol &&
      order.side !== side &&
      order.trigger === trigger,
  );
}

/** The order that closes the whole position at a take-profit or a stop price. */
export function exitOrder(
  orders: ReadonlyMap<string, Order> | undefined,
  { symbol, side }: Position,
  trigger: Trigger,
): Order | undefined {
  return [...(orders?.values() ?? [])].find(
    (order) =>
      order.closePosition &&
      order.symbol === symbol &&
      order.side !== side &&
      order.trigger === trigger,
  );
}
