/** Places and amends orders: both answer with an acknowledgement. */

import type { AmendOrderBody, ExtendedOrderBody, OrderTerms } from "@perpgate/protocol";
import type { Applied, MarketUnits, PastAcknowledgement, Unanswered } from "@perpgate/venue";
import { digestOf } from "../auth/order-signature.js";
import type { Caller, Signed } from "../request.js";
import {
  amendCommandOf,
  isOpen,
  notAmendable,
  orderToAmend,
  targetOfOrder,
} from "./amend-target.js";
import { type CommandOrigin, orderCommandOf } from "./order-command.js";
import { about, orderRefusal } from "./order-refusals.js";
import {
  conflict,
  isSameBody,
  markReplayed,
  type OrderEvidence,
  refuseOverlong,
  type SignedBody,
  SignedRequest,
  type SignedServices,
} from "./signed-request.js";
import {
  type LiveSession,
  type ReceiptedAck,
  unanswered,
  type VenueLink,
  withReceipt,
} from "./venue-link.js";

type Resolve = (acknowledgement: ReceiptedAck) => void;

export class OrderFlow {
  constructor(private readonly services: SignedServices) {}

  place(caller: Caller, request: Signed<ExtendedOrderBody>): Promise<ReceiptedAck> {
    return new Promise((resolve, reject) => {
      const session = this.counted(caller);
      const usedBy = this.services.link.views.seqOfNonce(session, request.body.nonce);
      if (this.resolveReplay(usedBy, caller, request.bytes, resolve)) return;
      this.admit(caller, request.bytes);
      new Placement(this.services, caller, session, request, resolve, reject).begin(usedBy);
    });
  }

  /** `pathId` names the order in the path; the signed body names it, too. */
  amend(caller: Caller, pathId: string, request: Signed<AmendOrderBody>): Promise<ReceiptedAck> {
    return new Promise((resolve, reject) => {
      const session = this.counted(caller);
      const usedBy = this.services.link.views.seqOfNonce(session, request.body.nonce);
      if (this.resolveReplay(usedBy, caller, request.bytes, resolve)) return;
      this.admit(caller, request.bytes);
      const amending = new Amending(this.services, caller, session, request, resolve, reject);
      amending.pathId = pathId;
      amending.begin(usedBy);
    });
  }

  private counted(caller: Caller): LiveSession {
    const session = this.services.guard.sessionOf(caller);
    this.services.limits.orders.take(session.account, caller.header);
    return session;
  }

  private admit(caller: Caller, bytes: Uint8Array): void {
    refuseOverlong(bytes, this.services.signedBytes);
    this.services.admission.enter(caller.header);
  }

  /** Whether the command that used the nonce, if any, had the same body: then that answers again. */
  private resolveReplay(usedBy: number, caller: Caller, bytes: Uint8Array, resolve: Resolve) {
    if (usedBy === 0) return false;
    const past = this.services.link.views.acknowledgement(usedBy);
    if (past === undefined || !isSameBody(past, bytes)) return false;
    answerAgain(this.services.link, past, caller, resolve);
    return true;
  }
}

/** A request that an acknowledgement answers. */
abstract class Acknowledged<Body extends SignedBody> extends SignedRequest<Body, ReceiptedAck> {
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
    const { link } = this.services;
    const { views } = link;
    this.countWork(applied);
    const outcome = views.outcome(applied);
    switch (outcome.kind) {
      case "acknowledged": {
        const { acknowledgement } = outcome;
        const requestHash = () => digestOf(this.request.bytes);
        link.receiptFor(applied, requestHash, (issued) => {
          this.answer(withReceipt(acknowledgement, issued));
        });
        return;
      }
      case "replayed":
        this.settleReplay(outcome.orderId);
        return;
      case "refused":
        throw orderRefusal(outcome, { body: this.request.body, terms, market, session, views });
      default:
        throw new Error("an order was executed without an acknowledgement");
    }
  }

  /** Two submissions of one nonce were in flight: the second gets the first's acknowledgement. */
  private settleReplay(seq: number): void {
    if (!this.answerAsBefore(seq)) throw conflict(this.request.body.nonce, seq);
  }

  protected answerAsBefore(seq: number): boolean {
    const { link } = this.services;
    const past = link.views.acknowledgement(seq);
    if (past === undefined || !isSameBody(past, this.request.bytes)) return false;
    answerAgain(link, past, this.caller, (ack) => this.answer(ack));
    return true;
  }
}

class Placement extends Acknowledged<ExtendedOrderBody> {
  protected prepare(origin: CommandOrigin, evidence: OrderEvidence): () => void {
    const { venue, views } = this.services.link;
    const { body } = this.request;
    const { symbol } = body;
    const market = venue.listing.named(symbol);
    if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
    const command = orderCommandOf(body, market, origin, views);
    this.refuseWithoutFunds();
    return () => {
      venue.submit(command, evidence, (applied, why) => this.onApplied(applied, why, body, market));
    };
  }
}

class Amending extends Acknowledged<AmendOrderBody> {
  pathId = "";

  protected prepare(origin: CommandOrigin, evidence: OrderEvidence): () => void {
    const { link } = this.services;
    const { body } = this.request;
    const order = orderToAmend(link, this.session.account, body, this.pathId);
    const target = targetOfOrder(link, order);
    const command = amendCommandOf(body, target, origin);
    if (!isOpen(order)) throw notAmendable(order);
    return () => {
      link.venue.submit(command, evidence, (applied, why) => {
        this.onApplied(applied, why, target.amended(body), target.market);
      });
    };
  }
}

/** With a receipt of its own: what it states is what was true when the order was applied. */
function answerAgain(
  link: VenueLink,
  { seq, acknowledgement }: PastAcknowledgement,
  caller: Caller,
  resolve: Resolve,
): void {
  markReplayed(caller);
  link.receiptAgain(seq, (issued) => resolve(withReceipt(acknowledgement, issued)));
}
