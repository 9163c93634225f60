/** Take-profit and stop-loss: orders that close the whole position, whatever its size is then. */

import { NotInUnits, stepOf, toSteps } from "@perpgate/protocol/core";
import type { Market, NewOperation, Side } from "@perpgate/sdk";
import { printable } from "../cli/printable.js";
import { reasonOf, StartError, UsageError } from "../cli/start-error.js";
import { cancelOne, isNoLongerOpen } from "./cancel.js";
import type { SendingVenue } from "./sender.js";

/** Null removes one, undefined leaves it. */
export interface Exits {
  readonly takeProfit?: number | null | undefined;
  readonly stopLoss?: number | null | undefined;
}

/** A price that the position's exits lie around. */
export interface Reference {
  readonly name: string;
  readonly price: number | null | undefined;
}

/** The mark, which an exit on its wrong side would trigger at. */
export function markOf(market: Market | undefined): Reference {
  return { name: "the mark price", price: market?.markPrice };
}

/**
 * @throws UsageError for an exit that would close a position of that side immediately, at a loss instead of a
 *   gain, or at a price that the market does not have. The venue judges each order of a batch alone: it
 *   would take the entry and refuse its exit.
 */
export function requireRightSide(
  side: Side,
  { takeProfit, stopLoss }: Exits,
  references: readonly Reference[],
  tickSize: number | undefined,
): void {
  const isLong = side === "long";
  const around = [...references, { name: "--sl", price: stopLoss }];
  requireBeyond("--sl", stopLoss, !isLong, side, references, tickSize);
  requireBeyond("--tp", takeProfit, isLong, side, around, tickSize);
}

function requireBeyond(
  flag: string,
  price: number | null | undefined,
  isAbove: boolean,
  side: Side,
  references: readonly Reference[],
  tickSize: number | undefined,
): void {
  if (typeof price !== "number") return;
  if (tickSize !== undefined && !isOnTick(price, tickSize)) {
    throw new UsageError(`${flag} ${price} is not a whole number of ticks of ${tickSize}`);
  }
  for (const { name, price: other } of references) {
    if (typeof other !== "number" || (isAbove ? price > other : price < other)) continue;
    const where = isAbove ? "above" : "below";
    throw new UsageError(
      `${flag} ${price} of a ${side} position must be ${where} ${name}, ${other}; nothing was sent`,
    );
  }
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

/** The orders of exits for an entry of that side. */
export function exitOperations(
  symbol: string,
  entry: Side,
  { takeProfit, stopLoss }: Exits,
): NewOperation[] {
  const side: Side = entry === "long" ? "short" : "long";
  const exit = { op: "place", symbol, side, type: "stop", closePosition: true } as const;
  return [
    ...(typeof takeProfit === "number"
      ? [{ ...exit, trigger: "takeProfit", price: takeProfit } as const]
      : []),
    ...(typeof stopLoss === "number"
      ? [{ ...exit, trigger: "stop", price: stopLoss } as const]
      : []),
  ];
}

/** Cancels exits of an order that was not taken. Tries all of them; then throws if some may still wait. */
export async function cancelExits(
  venue: Pick<SendingVenue, "session" | "output" | "sender" | "hint">,
  orderIds: readonly string[],
): Promise<void> {
  const { output, hint } = venue;
  const left: string[] = [];
  let failure: unknown;
  for (const orderId of orderIds) {
    try {
      await cancelOne(venue, orderId);
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
      hint(`cancel ${left.join(" ")}`),
  );
}
