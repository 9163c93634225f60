/**
 * The commands of a batch, one per operation. What no state of the venue would accept (a price off the
 * tick, an unknown symbol) is refused here, and takes its position in the log as a cancel of no order: so
 * the index of an operation is its distance from the first, whatever happens to the others.
 */

import type { Amendment, BatchBody, BatchOperation, Order, OrderTerms } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { MarketUnits } from "../listing/listing.js";
import type { Venue } from "../venue.js";
import {
  type AmendTarget,
  amendCommandOf,
  isOpen,
  type NamedOrder,
  notAmendable,
  orderNamedBefore,
  orderNotFound,
  orderNumberOf,
  requireNamedOrder,
  requireOneName,
  targetOfOrder,
  withAmendment,
} from "./amend-target.js";
import type { CommandOf } from "./execution.js";
import { type CommandOrigin, orderCommandOf } from "./order-command.js";
import { about } from "./order-refusals.js";

type BatchCommand = CommandOf<"PlaceOrder"> | CommandOf<"AmendOrder"> | CommandOf<"CancelOrder">;

export interface PlannedOperation {
  readonly operation: BatchOperation;
  readonly command: BatchCommand;
  /** Why the gateway refuses it: the command is a cancel of no order. */
  readonly failure?: ApiError | undefined;
  /** Of an order or an amendment: what the message of a refusal needs. */
  readonly terms?: OrderTerms;
  readonly market?: MarketUnits;
}

/** Orders that the batch itself places, by their client id. */
type PlacedNames = Map<string, AmendTarget>;

/** The order that an amendment names. @throws ApiError `order_not_found`. */
type FindOrder = (named: NamedOrder) => Order;

export function planBatch(
  venue: Venue,
  account: number,
  body: BatchBody,
  origin: CommandOrigin,
): PlannedOperation[] {
  return planWith(venue, body, origin, (named) => requireNamedOrder(venue, account, named));
}

/**
 * The plan of a batch that was executed from that seq on, to describe its stored results: names mean
 * what they meant then. Orders may have ended since, so a failure holds only where the log has a cancel
 * of no order.
 */
export function pastPlan(
  venue: Venue,
  account: number,
  body: BatchBody,
  seq: number,
): PlannedOperation[] {
  const origin = { stampMs: 0, session: 0, key: "", nonce: 0, validUntilMs: 0 };
  return planWith(venue, body, origin, (named) => orderNamedBefore(venue, account, named, seq));
}

function planWith(
  venue: Venue,
  { operations }: BatchBody,
  origin: CommandOrigin,
  find: FindOrder,
): PlannedOperation[] {
  const names: PlacedNames = new Map();
  const { key, nonce } = origin;
  return operations.map((operation, index) => {
    const batch = { index, count: operations.length, key, nonce };
    try {
      const planned = plan(venue, operation, origin, find, names);
      return { ...planned, operation, command: { ...planned.command, batch } };
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      return { operation, failure, command: { ...cancelOf({}, origin), batch } };
    }
  });
}

function plan(
  venue: Venue,
  operation: BatchOperation,
  origin: CommandOrigin,
  find: FindOrder,
  names: PlacedNames,
): Omit<PlannedOperation, "operation"> {
  switch (operation.op) {
    case "place": {
      const { op: _, ...terms } = operation;
      const { symbol, clientOrderId } = terms;
      const market = venue.listing.named(symbol);
      if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
      const command = orderCommandOf(terms, market, origin, venue.views);
      if (clientOrderId !== undefined) {
        names.set(clientOrderId, { market, amended: (changes) => withAmendment(terms, changes) });
      }
      return { command, terms, market };
    }
    case "amend": {
      requireOneName(operation);
      const placed = names.get(operation.clientOrderId ?? "");
      if (placed !== undefined) return amendmentOf(operation, placed, origin);
      const order = find(operation);
      const planned = amendmentOf(operation, targetOfOrder(venue, order), origin);
      if (isOpen(order)) return planned;
      const isNamed = operation.clientOrderId !== undefined;
      const failure = isNamed ? orderNotFound(operation) : notAmendable(order);
      return { ...planned, failure, command: cancelOf({}, origin) };
    }
    case "cancel":
      requireOneName(operation);
      return { command: cancelOf(operation, origin) };
  }
}

function amendmentOf(amendment: Amendment, target: AmendTarget, origin: CommandOrigin) {
  const command = amendCommandOf(amendment, target, origin);
  return { command, terms: target.amended(amendment), market: target.market };
}

function cancelOf(
  { orderId, clientOrderId }: NamedOrder,
  { stampMs, session, validUntilMs }: CommandOrigin,
): CommandOf<"CancelOrder"> {
  return {
    kind: "CancelOrder",
    stampMs,
    session,
    orderId: orderNumberOf(orderId),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
    ...(validUntilMs === 0 ? {} : { validUntilMs }),
  };
}
