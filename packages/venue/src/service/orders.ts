/** Places and amends orders: both answer with an acknowledgement. */

import { LATER, type RequestHandlers } from "@perpgate/link";
import type { AmendOrderBody, ExtendedOrderBody, OrderTerms } from "@perpgate/protocol";
import type { MarketUnits } from "../listing/listing.js";
import type { Unanswered } from "../pending-batches.js";
import type { Evidence } from "../record/record.js";
import type { Applied } from "../replica.js";
import {
  amendCommandOf,
  isOpen,
  notAmendable,
  orderToAmend,
  targetOfOrder,
} from "./amend-target.js";
import { unanswered } from "./execution.js";
import { type CommandOrigin, orderCommandOf } from "./order-command.js";
import { about, orderRefusal } from "./order-refusals.js";
import { type ReceiptedAck, withReceipt, withReceiptAgain } from "./receipts-of.js";
import { type SignedBody, SignedRequest, type SignedServices } from "./signed-request.js";

export function orders(
  services: SignedServices,
): Pick<RequestHandlers, "placeOrder" | "amendOrder"> {
  return {
    placeOrder: (request, notes, reply) => {
      new Placement(services, request, notes, reply).begin();
      return LATER;
    },
    amendOrder: (request, notes, reply) => {
      const amending = new Amending(services, request, notes, reply);
      amending.pathId = request.id;
      amending.begin();
      return LATER;
    },
  };
}

/** A request that an acknowledgement answers. */
abstract class Acknowledged<Body extends SignedBody> extends SignedRequest<Body, ReceiptedAck> {
  protected count(): void {
    this.services.orders.take(this.session.account, this.notes);
  }

  /** Runs inside the apply callback; must not throw. `applied` is null if there is no result. */
  protected onApplied(
    applied: Applied | null,
    why: Unanswered,
    terms: OrderTerms,
    market: MarketUnits,
  ): void {
    try {
      if (applied === null) this.refuse(unanswered(why));
      else this.settle(applied, terms, market);
    } catch (error) {
      this.refuse(error);
    }
  }

  private settle(applied: Applied, terms: OrderTerms, market: MarketUnits): void {
    const { session } = this;
    const { venue } = this.services;
    const { views } = venue;
    this.countWork(applied);
    const outcome = views.outcome(applied);
    switch (outcome.kind) {
      case "acknowledged": {
        const digest = () => this.digest;
        withReceipt(venue, applied, outcome.acknowledgement, digest, (ack) => this.answer(ack));
        return;
      }
      case "replayed":
        this.answerReplay(outcome.orderId);
        return;
      case "refused":
        throw orderRefusal(outcome, { body: this.request.body, terms, market, session, views });
      default:
        throw new Error("an order was executed without an acknowledgement");
    }
  }

  protected answerAsBefore(seq: number): boolean {
    const { venue } = this.services;
    const past = venue.views.acknowledgement(seq);
    if (past === undefined || !this.hasBody(past)) return false;
    this.notes.isReplay = true;
    withReceiptAgain(venue, seq, past.acknowledgement, (ack) => this.answer(ack));
    return true;
  }
}

class Placement extends Acknowledged<ExtendedOrderBody> {
  protected prepare(origin: CommandOrigin, evidence: Evidence): () => void {
    const { venue } = this.services;
    const { body } = this.request;
    const { symbol } = body;
    const market = venue.listing.named(symbol);
    if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
    const command = orderCommandOf(body, market, origin, venue.views);
    this.refuseWithoutFunds();
    return () => {
      venue.submit(command, evidence, (applied, why) => this.onApplied(applied, why, body, market));
    };
  }
}

class Amending extends Acknowledged<AmendOrderBody> {
  /** Names the order in the path; the signed body names it, too. */
  pathId = "";

  protected prepare(origin: CommandOrigin, evidence: Evidence): () => void {
    const { venue } = this.services;
    const { body } = this.request;
    const order = orderToAmend(venue, this.session.account, body, this.pathId);
    const target = targetOfOrder(venue, order);
    const command = amendCommandOf(body, target, origin);
    if (!isOpen(order)) throw notAmendable(order);
    return () => {
      venue.submit(command, evidence, (applied, why) => {
        this.onApplied(applied, why, target.amended(body), target.market);
      });
    };
  }
}
