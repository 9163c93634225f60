/** Cancels: one order, all orders, or all orders after a time-out that the client keeps extending. */

import type {
  CanceledOrder,
  CanceledOrders,
  CancelOrderBody,
  CancelTimer,
  Order,
} from "@perpgate/protocol";
import { ApiError, orderIdText } from "@perpgate/protocol/core";
import { NO_EVIDENCE } from "@perpgate/venue";
import type { AccountLimits } from "../limits/limits.js";
import type { Caller } from "../request.js";
import { namedOrder, numberOf, requireOneName } from "./amend-target.js";
import { about } from "./order-refusals.js";
import { sessionRefusal } from "./session-refusal.js";
import { countWork } from "./signed-request.js";
import type { LiveSession, VenueCommand, VenueLink } from "./venue-link.js";

const EVERY_MARKET = -1;

export class CancelFlow {
  constructor(
    private readonly link: VenueLink,
    private readonly limits: AccountLimits,
  ) {}

  async cancel(
    caller: Caller,
    session: LiveSession,
    body: CancelOrderBody,
  ): Promise<CanceledOrder> {
    requireOneName(body);
    // One that is not open is refused before the command reaches the log.
    const { orderId: seen, status } = namedOrder(this.link, session.account, body);
    if (status !== "resting" && status !== "pending") throw notCancelable(seen, status);
    const { validUntil, clientOrderId } = body;
    const { views } = this.link;
    const command = {
      kind: "CancelOrder",
      stampMs: this.link.nowMs(),
      session: session.number,
      // Another order may have the name once this is executed.
      ...(clientOrderId === undefined
        ? { orderId: numberOf(seen) }
        : { orderId: 0, clientOrderId }),
      ...(validUntil === undefined ? {} : { validUntilMs: validUntil }),
    } as const;
    const { outcome, ended } = await this.execute(caller, session, command);
    if (outcome.kind === "refused") {
      // It was filled or canceled before this command.
      if (outcome.refusal === "order_not_cancelable") {
        throw notCancelable(seen, ownOrder(this.link, session.account, seen).status);
      }
      if (outcome.refusal === "too_late") throw tooLate(validUntil ?? 0, views.timeMs);
      throw sessionRefusal("CancelOrder", outcome);
    }
    // The first to end is the one that was named; others may have lived because of it.
    const [first] = ended;
    const orderId = first === undefined ? seen : orderIdText(first);
    const { remainingSize } = ownOrder(this.link, session.account, orderId);
    return { orderId, status: "canceled", remainingSize };
  }

  async cancelAll(
    caller: Caller,
    session: LiveSession,
    symbol: string | undefined,
  ): Promise<CanceledOrders> {
    const { views } = this.link;
    const market = symbol === undefined ? EVERY_MARKET : views.marketNumber(symbol);
    if (market === undefined) {
      throw about("symbol", "unknown_symbol", { symbol: symbol ?? "" });
    }
    const command = {
      kind: "CancelAll",
      stampMs: this.link.nowMs(),
      session: session.number,
      market,
    } as const;
    // From the command's own events: orders that end for another reason are not part of the answer.
    const { outcome, ended } = await this.execute(caller, session, command);
    if (outcome.kind === "refused") throw sessionRefusal("CancelAll", outcome);
    return { canceled: ended.map(orderIdText) };
  }

  private execute(caller: Caller, { account }: LiveSession, command: VenueCommand) {
    const { views } = this.link;
    return this.link.executeTaking(command, NO_EVIDENCE, (applied) => {
      countWork(this.limits.cancels, account, caller, views.workUnits(applied));
      return { outcome: views.outcome(applied), ended: views.endedOrders(applied, account) };
    });
  }

  async cancelAfter(session: LiveSession, afterMs: number): Promise<CancelTimer> {
    const { outcome, timeMs } = await this.link.execute({
      kind: "CancelAfter",
      stampMs: this.link.nowMs(),
      session: session.number,
      afterMs,
    });
    if (outcome.kind === "refused") throw sessionRefusal("CancelAfter", outcome);
    return { cancelAt: afterMs === 0 ? null : timeMs + afterMs };
  }
}

/** An order of the account; throws `order_not_found`, also for another account's order. */
export function ownOrder(link: VenueLink, account: number, orderId: string): Order {
  return namedOrder(link, account, { orderId });
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
