/** Cancels: one order, all orders, or all orders after a time-out that the client keeps extending. */

import type { CanceledOrder, CanceledOrders, CancelTimer, Order } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import { NO_EVIDENCE } from "@perpgate/venue";
import { about } from "./order-refusals.js";
import { sessionRefusal } from "./session-flow.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const EVERY_MARKET = -1;

export class CancelFlow {
  constructor(private readonly link: VenueLink) {}

  async cancel(session: LiveSession, orderId: string): Promise<CanceledOrder> {
    this.requireOpen(session, orderId);
    const { outcome } = await this.link.execute({
      kind: "CancelOrder",
      stampMs: this.link.nowMs(),
      session: session.number,
      orderId: Number(orderId),
    });
    if (outcome.kind === "refused") {
      // It was filled or canceled before this command.
      if (outcome.refusal === "order_not_cancelable")
        throw notCancelable(this.order(session, orderId));
      throw sessionRefusal("CancelOrder", outcome);
    }
    const { remainingSize } = this.order(session, orderId);
    return { orderId, status: "canceled", remainingSize };
  }

  async cancelAll(session: LiveSession, symbol: string | undefined): Promise<CanceledOrders> {
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
    const { outcome, ended } = await this.link.executeTaking(command, NO_EVIDENCE, (applied) => ({
      outcome: views.outcome(applied),
      ended: views.endedOrders(applied, session.account),
    }));
    if (outcome.kind === "refused") throw sessionRefusal("CancelAll", outcome);
    return { canceled: ended.map(String) };
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

  /** Refuses an order that is not open, before the command reaches the log. */
  private requireOpen(session: LiveSession, orderId: string): void {
    const order = this.order(session, orderId);
    if (order.status !== "resting" && order.status !== "pending") throw notCancelable(order);
  }

  private order({ account }: LiveSession, orderId: string): Order {
    return ownOrder(this.link, account, orderId);
  }
}

/** An order of the account; throws `order_not_found`, also for another account's order. */
export function ownOrder({ views }: VenueLink, account: number, orderId: string): Order {
  const order = views.order(account, Number(orderId));
  if (order === undefined) throw new ApiError("order_not_found", { orderId });
  return order;
}

function notCancelable({ orderId, status }: Order): ApiError {
  return new ApiError(
    "order_not_cancelable",
    { orderId, status },
    { details: { orderId, status } },
  );
}
