/** Cancels: one order, all orders, or all orders after a time-out that the client keeps extending. */

import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking, RequestHandlers } from "@perpgate/link";
import type { CanceledOrder, Order } from "@perpgate/protocol";
import { ApiError, orderIdText } from "@perpgate/protocol/core";
import { EMPTY_DIGEST } from "../blocks/merkle.js";
import { NO_EVIDENCE } from "../record/record.js";
import type { KeptApplied } from "../replica.js";
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
import { type Receipted, withReceipt, withReceiptAgain } from "./receipts-of.js";

type Cancels = Pick<RequestHandlers, "cancelOrder" | "cancelAllOrders" | "cancelOrdersAfter">;

const EVERY_MARKET = -1;

export function cancels(venue: Venue, commands: AccountCalls, limit: AccountLimit): Cancels {
  const { views } = venue;
  const canceling = <T>(
    { account }: Session,
    notes: NotesInMaking,
    command: VenueCommand,
    resultOf: (applied: KeptApplied, isFirst: boolean) => T,
  ) =>
    executeTaking(venue, command, NO_EVIDENCE, (applied, isFirst) => {
      limit.countWork(account, views.workUnits(applied), notes);
      const outcome = views.outcome(applied);
      const { seq } = applied;
      if (outcome.kind === "refused") return { seq, refused: outcome, result: undefined };
      return { seq, refused: undefined, result: resultOf(applied, isFirst) };
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
        const done = await canceling(session, notes, command, (applied, isFirst) =>
          receiptedCancel(venue, applied, isFirst),
        );
        const { seq, refused } = done;
        if (refused !== undefined) {
          // It was filled or canceled before this command.
          if (refused.refusal === "order_not_cancelable") {
            const { orderId, status } = orderNamedBefore(venue, account, body, seq);
            throw notCancelable(orderId, status);
          }
          if (refused.refusal === "too_late") throw tooLate(validUntil ?? 0, views.timeMs);
          throw sessionRefusal("CancelOrder", refused);
        }
        return { result: await done.result };
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
        const { refused, result: ended } = await canceling(session, notes, command, (applied) =>
          views.endedOrders(applied, session.account),
        );
        if (refused !== undefined) throw sessionRefusal("CancelAll", refused);
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

/**
 * Inside the apply callback: what a cancel has ended, with its receipt. A cancel is not signed: its receipt
 * has the hash of no bytes.
 */
function receiptedCancel(
  venue: Venue,
  applied: KeptApplied,
  isFirst: boolean,
): Promise<Receipted<CanceledOrder>> {
  return new Promise((resolve) => {
    const canceled = venue.views.canceled(applied);
    if (isFirst) withReceipt(venue, applied, canceled, () => EMPTY_DIGEST, resolve);
    else withReceiptAgain(venue, applied.seq, canceled, resolve);
  });
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
