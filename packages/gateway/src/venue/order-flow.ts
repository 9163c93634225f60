/**
 * An order's way from its bytes to its acknowledgement, in this order:
 *
 *   token → rate limit → a repeated nonce → length → room → shape → funds → signature → log
 *
 * A nonce that was used with the same body is answered before the signature, also after a restart,
 * so that a retry is always safe; with another body it is a conflict, which only the key's owner is
 * told. Once an order is in the log's hands, its answer is what became of it and nothing else.
 *
 * The two waits, for the signature and for the log, are callbacks into one object and one promise:
 * a promise for every step was a tenth of an order's time.
 */

import { timingSafeEqual } from "node:crypto";
import { type Acknowledgement, ApiError, type PlaceOrderBody } from "@perpgate/protocol";
import type { Applied, MarketUnits, PastAcknowledgement } from "@perpgate/venue";
import { digestOf, doesNotVerify, readSignature } from "../auth/order-signature.js";
import type { SessionKey } from "../auth/session-key.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import type { Admission } from "../limits/admission.js";
import type { AccountLimits } from "../limits/limits.js";
import { refuseOverlong } from "../limits/signed-bytes.js";
import type { Caller, Signed } from "../request.js";
import { orderCommandOf } from "./order-command.js";
import { about, orderRefusal } from "./order-refusals.js";
import type { SessionDoor } from "./session-door.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const NO_KEY = new Uint8Array(0);

export interface OrderServices {
  readonly link: VenueLink;
  readonly door: SessionDoor;
  readonly limits: AccountLimits;
  readonly admission: Admission;
  readonly signatures: SignatureVerifier;
  /** Bytes of an order that the log takes. */
  readonly signedBytes: number;
}

export class OrderFlow {
  constructor(private readonly services: OrderServices) {}

  place(caller: Caller, request: Signed<PlaceOrderBody>): Promise<Acknowledgement> {
    return new Promise((resolve, reject) => {
      const { door, limits, link, admission, signedBytes } = this.services;
      const session = door.enter(caller);
      limits.orders.take(session.account, caller.header);
      const past = link.views.ackOf(session, request.body.nonce);
      if (past !== undefined && isSameBody(past, request)) {
        resolve(replayed(past, caller));
        return;
      }
      refuseOverlong(request.bytes, signedBytes);
      admission.enter(caller.header);
      new OrderUnderWay(this.services, caller, session, request, resolve, reject).begin(past);
    });
  }
}

/** An order that was let in: settles its promise once, and leaves its room once. */
class OrderUnderWay {
  constructor(
    private readonly services: OrderServices,
    private readonly caller: Caller,
    private readonly session: LiveSession,
    private readonly request: Signed<PlaceOrderBody>,
    private readonly resolve: (acknowledgement: Acknowledgement) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  begin(past: PastAcknowledgement | undefined): void {
    try {
      const { door, signatures } = this.services;
      const { body, bytes, signature: header } = this.request;
      const key = door.keyOf(this.session);
      const signature = readSignature(header, key, bytes);
      if (past === undefined) this.checkBody(key, signature);
      else this.verify(signatures, key, signature, () => this.refuse(conflict(body, past)));
    } catch (error) {
      this.refuse(error);
    }
  }

  /** Everything that needs no signature first: it costs less. */
  private checkBody(key: SessionKey, signature: Uint8Array): void {
    const { link, signatures } = this.services;
    const { body, bytes } = this.request;
    const market = this.marketOf(body);
    const command = orderCommandOf(body, market, {
      stampMs: link.nowMs(),
      session: this.session.number,
      key: key.fingerprint,
    });
    this.refuseWithoutFunds();
    this.verify(signatures, key, signature, () => {
      const evidence = { signed: bytes, signature, publicKey: NO_KEY };
      link.venue.submit(command, evidence, (applied) => this.onApplied(applied, market));
    });
  }

  private verify(
    signatures: SignatureVerifier,
    key: SessionKey,
    signature: Uint8Array,
    proceed: () => void,
  ): void {
    const { bytes } = this.request;
    signatures.verify(key, bytes, signature, (error, isValid) => {
      if (error !== null || !isValid) {
        this.refuse(error ?? doesNotVerify(key, bytes));
        return;
      }
      try {
        proceed();
      } catch (failure) {
        this.refuse(failure);
      }
    });
  }

  /** Called within the venue's own order of things, where nothing may be thrown. */
  private onApplied(applied: Applied | null, market: MarketUnits): void {
    try {
      if (applied === null) this.refuse(new ApiError("stopped", {}));
      else this.settle(applied, market);
    } catch (error) {
      this.refuse(error);
    }
  }

  private settle(applied: Applied, market: MarketUnits): void {
    const { session } = this;
    const { body } = this.request;
    const { views } = this.services.link;
    const outcome = views.outcome(applied);
    switch (outcome.kind) {
      case "acknowledged":
        this.answer(outcome.acknowledgement);
        return;
      case "replayed":
        this.answer(this.settleRepetition(outcome.orderId));
        return;
      case "refused":
        throw orderRefusal(outcome, { body, market, session, views });
      default:
        throw new Error("an order was executed without an acknowledgement");
    }
  }

  /** Two submissions of one nonce met in the log: the second hears of the first. */
  private settleRepetition(orderId: number): Acknowledgement {
    const past = this.services.link.views.acknowledgement(orderId);
    if (past === undefined) throw new Error(`order ${orderId} has no acknowledgement`);
    if (isSameBody(past, this.request)) return replayed(past, this.caller);
    throw conflict(this.request.body, past);
  }

  private marketOf({ symbol }: PlaceOrderBody): MarketUnits {
    const market = this.services.link.venue.listing.named(symbol);
    if (market === undefined) throw about("symbol", "unknown_symbol", { symbol });
    return market;
  }

  /** An account without any money is refused before the log, which it could fill for nothing. */
  private refuseWithoutFunds(): void {
    const { views } = this.services.link;
    if (views.walletMicros(this.session.account) > 0) return;
    if (views.account(this.session).balance > 0) return;
    throw about("margin", "insufficient_margin", { maxMargin: 0 });
  }

  private answer(acknowledgement: Acknowledgement): void {
    this.services.admission.leave();
    this.resolve(acknowledgement);
  }

  private refuse(error: unknown): void {
    this.services.admission.leave();
    this.reject(error);
  }
}

/** Hashes only where a nonce is repeated. */
function isSameBody(past: PastAcknowledgement, { bytes }: Signed<PlaceOrderBody>): boolean {
  return timingSafeEqual(past.digest, digestOf(bytes));
}

function replayed({ acknowledgement }: PastAcknowledgement, { header }: Caller): Acknowledgement {
  header("idempotent-replay", "true");
  return acknowledgement;
}

function conflict({ nonce }: PlaceOrderBody, past: PastAcknowledgement): ApiError {
  const { ackNonce } = past.acknowledgement;
  return about("nonce", "nonce_conflict", { nonce, ackNonce });
}
