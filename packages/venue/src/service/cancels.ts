/** Cancels: one order, all orders, or all orders after a time-out that the client keeps extending. */

import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking, RequestHandlers } from "@perpgate/link";
import type { Order } from "@perpgate/protocol";
import { ApiError, orderIdText } from "@perpgate/protocol/core";
import { NO_EVIDENCE } from "../record/record.js";
import type { Venue } from "../venue.js";
import type { AccountCalls } from "./account-calls.js";
import type { AccountLimit } from "./account-limits.js";
import {
  isOpen,
  type NamedOrder,
  orderNamedBefore,
  orderNumberOf,
  requireNamedOrder,
  requireOneName,
} from "./amend-target.js";
import {
  executeCommand,
  executeTaking,
  isExecuted,
  sessionRefusal,
  unsignedTerms,
  type VenueCommand,
} from "./execution.js";
import { about } from "./order-refusals.js";

type Cancels = Pick<RequestHandlers, "cancelOrder" | "cancelAllOrders" | "cancelOrdersAfter">;

const EVERY_MARKET = -1;

export function cancels(venue: Venue, commands: AccountCalls, limit: AccountLimit): Cancels {
  const { views } = venue;
  const canceling = ({ account }: Session, notes: NotesInMaking, command: VenueCommand) =>
    executeTaking(venue, command, NO_EVIDENCE, (applied) => {
      limit.countWork(account, views.workUnits(applied), notes);
      const ended = views.endedOrders(applied, account);
      return { seq: applied.seq, outcome: views.outcome(applied), ended };
    });
  return {
    cancelOrder: ({ session: number, body }, notes) =>
      commands.run(number, notes, async (session) => {
        const { account } = session;
        requireOneName(body);
        // One that is not open is refused before the command reaches the log, unless that ended it.
        if (!isExecuted(venue, notes)) requireOpenOrder(venue, account, body);
        const { validUntil, clientOrderId } = body;
        const command = {
          kind: "CancelOrder",
          stampMs: venue.nowMs(),
          session: number,
          // Another order may have the name once this is executed.
          ...(clientOrderId === undefined
            ? { orderId: orderNumberOf(body.orderId) }
            : { orderId: 0, clientOrderId }),
          ...(validUntil === undefined ? {} : { validUntilMs: validUntil }),
          ...unsignedTerms(venue, notes),
        } as const;
        const { seq, outcome, ended } = await canceling(session, notes, command);
        if (outcome.kind === "refused") {
          // It was filled or canceled before this command.
          if (outcome.refusal === "order_not_cancelable") {
            const { orderId, status } = orderNamedBefore(venue, account, body, seq);
            throw notCancelable(orderId, status);
          }
          if (outcome.refusal === "too_late") throw tooLate(validUntil ?? 0, views.timeMs);
          throw sessionRefusal("CancelOrder", outcome);
        }
        // The first to end is the one that was named; others may have lived because of it.
        const [first] = ended;
        if (first === undefined) throw new Error(`the cancel at ${seq} has ended nothing`);
        const orderId = orderIdText(first);
        const { remainingSize } = ownOrder(venue, account, orderId);
        return { result: { orderId, status: "canceled", remainingSize } };
      }),
    cancelAllOrders: ({ session: number, symbol }, notes) =>
      commands.run(number, notes, async (session) => {
        const market = symbol === undefined ? EVERY_MARKET : views.marketNumber(symbol);
        if (market === undefined) {
          throw about("symbol", "unknown_symbol", { symbol: symbol ?? "" });
        }
        const stampMs = venue.nowMs();
        const terms = unsignedTerms(venue, notes);
        const command = { kind: "CancelAll", stampMs, session: number, market, ...terms } as const;
        // From the command's own events: orders that end for another reason are not part of the answer.
        const { outcome, ended } = await canceling(session, notes, command);
        if (outcome.kind === "refused") throw sessionRefusal("CancelAll", outcome);
        return { result: { canceled: ended.map(orderIdText) } };
      }),
    cancelOrdersAfter: ({ session, afterMs }, notes) =>
      commands.run(session, notes, async () => {
        const stampMs = venue.nowMs();
        const terms = unsignedTerms(venue, notes);
        const command = { kind: "CancelAfter", stampMs, session, afterMs, ...terms } as const;
        const { outcome, timeMs } = await executeCommand(venue, command);
        if (outcome.kind === "refused") throw sessionRefusal("CancelAfter", outcome);
        return { result: { cancelAt: afterMs === 0 ? null : timeMs + afterMs } };
      }),
  };
}

/** @throws ApiError `order_not_found`, `order_not_cancelable` */
function requireOpenOrder(venue: Venue, account: number, named: NamedOrder): void {
  const order = requireNamedOrder(venue, account, named);
  if (!isOpen(order)) throw notCancelable(order.orderId, order.status);
}

/** An order of the account; throws `order_not_found`, also for another account's order. */
export function ownOrder(venue: Venue, account: number, orderId: string): Order {
  return requireNamedOrder(venue, account, { orderId });
}

export function tooLate(validUntil: number, time: number): ApiError {
  return about("validUntil", "too_late", { validUntil, time });
}

export function notCancelable(orderId: string, status: string): ApiError {
  return new ApiError(
    "order_not_cancelable",
    { orderId, status },
    { details: { orderId, status } },
  );
}
