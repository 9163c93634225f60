/** Sends the order of the form, together with its take-profit and stop-loss. */

import {
  type BatchAnswer,
  type NewOperation,
  type Order,
  type Protection,
  protectionOf,
  type Session,
} from "@perpgate/sdk";
import type { Terminal } from "../terminal.js";
import { newResult } from "../venue/order-result.js";
import { adviceOn } from "./advice.js";
import type { OrderTerms } from "./order-terms.js";
import { refusalsIn, requireAll } from "./outcome.js";

/** @throws if the order itself was refused, or has no answer. */
export async function placeTerms(
  terminal: Terminal,
  session: Session,
  { order, exits }: OrderTerms,
): Promise<void> {
  if (exits === undefined) await terminal.orders.place(session, order);
  else await placeWithExits(terminal, session, order, exits);
}

/** One batch: nothing happens between the order and its exits. */
async function placeWithExits(
  terminal: Terminal,
  session: Session,
  order: OrderTerms["order"],
  exits: Protection,
): Promise<void> {
  const begin = performance.now();
  const open = [...(terminal.account.orders.get()?.values() ?? [])];
  const operations: NewOperation[] = [{ op: "place", ...order }, ...protectionOf(exits, open)];
  const subject = `${order.side === "long" ? "Buy" : "Sell"} ${order.type} ${order.symbol} with exits`;
  const { results, replayed } = await terminal.orders.batch(session, operations, subject);
  const [entry, ...rest] = results;
  if (entry?.ack === undefined || isUnfilled(entry.ack)) showChangedExits(terminal, exits, rest);
  if (entry?.ack === undefined) {
    requireAll({ results });
    return;
  }
  const browserMs = performance.now() - begin;
  terminal.orders.book.add(
    session,
    newResult(entry.ack, { type: order.type, replayed, browserMs }),
  );
  for (const refusal of refusalsIn(rest)) {
    const { title, text } = adviceOn(refusal);
    terminal.toasts.show("bad", `The order has no exit: ${title}`, text);
  }
}

function isUnfilled({ status, filledSize }: Pick<Order, "status" | "filledSize">): boolean {
  return status === "canceled" && filledSize === 0;
}

/**
 * Each operation of a batch is accepted or refused on its own: a position that exists gets the exits of an
 * order that was refused, or that the book did not fill.
 */
function showChangedExits(
  { toasts }: Terminal,
  { takeProfit, stopLoss }: Protection,
  results: BatchAnswer["results"],
): void {
  const names = [
    ...(takeProfit === undefined ? [] : ["take profit"]),
    ...(stopLoss === undefined ? [] : ["stop loss"]),
  ];
  const changed = names.filter((_, at) => results[at]?.ack !== undefined);
  if (changed.length === 0) return;
  const verb = changed.length === 1 ? "was" : "were";
  const text = `The ${changed.join(" and the ")} of your position ${verb} changed.`;
  toasts.show("bad", "The order was not executed, but its exits were", text);
}
