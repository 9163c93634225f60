/**
 * An order's way from its bytes to its acknowledgement, in this order:
 *
 *   token → rate limit → a repeated nonce → room → shape → funds → signature → log
 *
 * A nonce that was used with the same body is answered before the signature, also after a restart,
 * so that a retry is always safe; with another body it is a conflict, which only the key's owner is
 * told. Once an order is in the log's hands, its answer is what became of it and nothing else.
 */

import { timingSafeEqual } from "node:crypto";
import type { Acknowledgement, PlaceOrderBody, Refusal } from "@perpgate/protocol";
import type { MarketUnits, PastAcknowledgement } from "@perpgate/venue";
import { checkSignature, digestOf, readSignature } from "../auth/order-signature.js";
import type { Admission } from "../limits/admission.js";
import type { AccountLimits } from "../limits/limits.js";
import type { Caller, Signed } from "../venue-port.js";
import { orderCommandOf } from "./order-command.js";
import { about, orderRefusal } from "./order-refusals.js";
import type { SessionDoor } from "./session-door.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const NO_KEY = new Uint8Array(0);

export class OrderFlow {
  constructor(
    private readonly link: VenueLink,
    private readonly door: SessionDoor,
    private readonly limits: AccountLimits,
    private readonly admission: Admission,
  ) {}

  async place(caller: Caller, request: Signed<PlaceOrderBody>): Promise<Acknowledgement> {
    const session = this.door.enter(caller);
    this.limits.orders.take(session.account, caller.header);
    const digest = digestOf(request.bytes);
    const past = this.link.views.ackOf(session, request.body.nonce);
    if (past !== undefined && isSameBody(past, digest)) return replayed(past, caller);
    this.admission.enter(caller.header);
    try {
      return await this.placeNew(caller, session, request, digest, past);
    } finally {
      this.admission.leave();
    }
  }

  private async placeNew(
    caller: Caller,
    session: LiveSession,
    { body, bytes, signature: header }: Signed<PlaceOrderBody>,
    digest: Uint8Array,
    past: PastAcknowledgement | undefined,
  ): Promise<Acknowledgement> {
    const key = this.door.keyOf(session);
    const signature = readSignature(header, key, digest);
    if (past !== undefined) {
      await checkSignature(key, bytes, digest, signature);
      throw conflict(body, past);
    }
    const market = this.marketOf(body);
    const command = orderCommandOf(body, market, {
      stampMs: this.link.nowMs(),
      session: session.number,
      key: key.fingerprint,
    });
    this.refuseWithoutFunds(session);
    await checkSignature(key, bytes, digest, signature);
    const evidence = { signed: bytes, signature, publicKey: NO_KEY };
    const { outcome } = await this.link.execute(command, evidence);
    switch (outcome.kind) {
      case "acknowledged":
        return outcome.acknowledgement;
      case "replayed":
        return this.settleRepetition(outcome.orderId, body, digest, caller);
      case "refused":
        throw orderRefusal(outcome, { body, market, session, views: this.link.views });
      default:
        throw new Error("an order was executed without an acknowledgement");
    }
  }

  private marketOf({ symbol }: PlaceOrderBody): MarketUnits {
    const market = this.link.venue.listing.named(symbol);
    if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
    return market;
  }

  /** An account without any money is refused before the log, which it could fill for nothing. */
  private refuseWithoutFunds(session: LiveSession): void {
    const { views } = this.link;
    if (views.walletMicros(session.account) > 0 || views.account(session).balance > 0) return;
    throw about("margin", "insufficient_margin", { maxMargin: 0 });
  }

  /** Two submissions of one nonce met in the log: the second hears of the first. */
  private settleRepetition(
    orderId: number,
    body: PlaceOrderBody,
    digest: Uint8Array,
    caller: Caller,
  ): Acknowledgement {
    const past = this.link.views.acknowledgement(orderId);
    if (past === undefined) throw new Error(`order ${orderId} has no acknowledgement`);
    if (isSameBody(past, digest)) return replayed(past, caller);
    throw conflict(body, past);
  }
}

function isSameBody(past: PastAcknowledgement, digest: Uint8Array): boolean {
  return timingSafeEqual(past.digest, digest);
}

function replayed({ acknowledgement }: PastAcknowledgement, { header }: Caller): Acknowledgement {
  header("idempotent-replay", "true");
  return acknowledgement;
}

function conflict({ nonce }: PlaceOrderBody, past: PastAcknowledgement): Refusal {
  const { ackNonce } = past.acknowledgement;
  return about("nonce", "nonce_conflict", { nonce, ackNonce });
}
