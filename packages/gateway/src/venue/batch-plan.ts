/**
 * The commands of a batch, one per operation. What no state of the venue would accept (a price off the
 * tick, an unknown symbol) is refused here, and takes its position in the log as a cancel of no order: so
 * the index of an operation is its distance from the first, whatever happens to the others.
 */

import type { BatchBody, BatchOperation, OrderTerms } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { MarketUnits } from "@perpgate/venue";
import {
  type AmendTarget,
  amendCommandOf,
  isOpen,
  type NamedOrder,
  namedOrder,
  notAmendable,
  requireOneName,
  targetOfOrder,
  withAmendment,
} from "./amend-target.js";
import { type CommandOrigin, orderCommandOf } from "./order-command.js";
import { about } from "./order-refusals.js";
import type { CommandOf, VenueLink } from "./venue-link.js";

type BatchCommand = CommandOf<"PlaceOrder"> | CommandOf<"AmendOrder"> | CommandOf<"CancelOrder">;

export interface PlannedOperation {
  readonly operation: BatchOperation;
  readonly command: BatchCommand;
  /** Why it is refused whatever the venue's state. */
  readonly failure?: ApiError;
  /** Of an order or an amendment: what the message of a refusal needs. */
  readonly terms?: OrderTerms;
  readonly market?: MarketUnits;
}

/** Orders that the batch itself places, by their client id. */
type PlacedNames = Map<string, AmendTarget>;

export function planBatch(
  link: VenueLink,
  account: number,
  { operations }: BatchBody,
  origin: CommandOrigin,
): PlannedOperation[] {
  const names: PlacedNames = new Map();
  const { key, nonce } = origin;
  return operations.map((operation, index) => {
    const batch = { index, count: operations.length, key, nonce };
    try {
      const planned = plan(link, account, operation, origin, names);
      return { ...planned, operation, command: { ...planned.command, batch } };
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      return { operation, failure, command: { ...cancelOf({}, origin), batch } };
    }
  });
}

function plan(
  link: VenueLink,
  account: number,
  operation: BatchOperation,
  origin: CommandOrigin,
  names: PlacedNames,
): Pick<PlannedOperation, "command" | "terms" | "market"> {
  switch (operation.op) {
    case "place": {
      const { op: _, ...terms } = operation;
      const { symbol, clientOrderId } = terms;
      const market = link.venue.listing.named(symbol);
      if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
      const command = orderCommandOf(terms, market, origin);
      if (clientOrderId !== undefined) {
        names.set(clientOrderId, { market, amended: (changes) => withAmendment(terms, changes) });
      }
      return { command, terms, market };
    }
    case "amend": {
      const target = targetOf(link, account, operation, names);
      const command = amendCommandOf(operation, target, origin);
      return { command, terms: target.amended(operation), market: target.market };
    }
    case "cancel":
      requireOneName(operation);
      return { command: cancelOf(operation, origin) };
  }
}

function targetOf(
  link: VenueLink,
  account: number,
  named: NamedOrder,
  names: PlacedNames,
): AmendTarget {
  requireOneName(named);
  const placed = names.get(named.clientOrderId ?? "");
  if (placed !== undefined) return placed;
  const order = namedOrder(link, account, named);
  if (!isOpen(order)) throw notAmendable(order.orderId, `it is ${order.status}`);
  return targetOfOrder(link, order);
}

function cancelOf(
  { orderId, clientOrderId }: NamedOrder,
  { stampMs, session, validUntilMs }: CommandOrigin,
): CommandOf<"CancelOrder"> {
  return {
    kind: "CancelOrder",
    stampMs,
    session,
    orderId: orderId === undefined ? 0 : Number(orderId),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
    ...(validUntilMs === 0 ? {} : { validUntilMs }),
  };
}
