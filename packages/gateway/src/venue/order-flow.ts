/**
 * Places an order, in these steps:
 *
 *   token → rate limit → repeated nonce → length → admission → body → funds → signature → log
 *
 * A nonce that was used with the same body returns the first acknowledgement, without a signature check
 * and also after a restart, so that a retry is always safe. With another body it is a conflict, which is
 * revealed only if the signature is valid. Once an order is submitted, its answer is its outcome.
 *
 * The signature check and the log call back into one object with one promise: a promise per step took a
 * tenth of an order's time.
 */

import { timingSafeEqual } from "node:crypto";
import type { Acknowledgement, PlaceOrderBody } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Applied, MarketUnits, PastAcknowledgement } from "@perpgate/venue";
import { digestOf, doesNotVerify, readSignature } from "../auth/order-signature.js";
import type { SessionKey } from "../auth/session-key.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import type { Admission } from "../limits/admission.js";
import type { AccountLimits } from "../limits/limits.js";
import type { Caller, Signed } from "../request.js";
import { orderCommandOf } from "./order-command.js";
import { about, orderRefusal } from "./order-refusals.js";
import type { SessionGuard } from "./session-guard.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

const NO_KEY = new Uint8Array(0);

export interface OrderServices {
  readonly link: VenueLink;
  readonly guard: SessionGuard;
  readonly limits: AccountLimits;
  readonly admission: Admission;
  readonly signatures: SignatureVerifier;
  /** Maximum bytes of an order. */
  readonly signedBytes: number;
}

export class OrderFlow {
  constructor(private readonly services: OrderServices) {}

  place(caller: Caller, request: Signed<PlaceOrderBody>): Promise<Acknowledgement> {
    return new Promise((resolve, reject) => {
      const { guard, limits, link, admission, signedBytes } = this.services;
      const session = guard.sessionOf(caller);
      limits.orders.take(session.account, caller.header);
      const past = link.views.ackOf(session, request.body.nonce);
      if (past !== undefined && isSameBody(past, request)) {
        resolve(replayed(past, caller));
        return;
      }
      refuseOverlong(request.bytes, signedBytes);
      admission.enter(caller.header);
      new OrderInFlight(this.services, caller, session, request, resolve, reject).begin(past);
    });
  }
}

/** An admitted order: settles its promise once, and calls `admission.leave` once. */
class OrderInFlight {
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
      const { guard, signatures } = this.services;
      const { body, bytes, signature: header } = this.request;
      const key = guard.keyOf(this.session);
      const signature = readSignature(header, key, bytes);
      if (past === undefined) this.checkBody(key, signature);
      else this.verify(signatures, key, signature, () => this.refuse(conflict(body, past)));
    } catch (error) {
      this.refuse(error);
    }
  }

  /** Checks what needs no signature first: it costs less. */
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

  /** Runs inside the apply callback; must not throw. `applied` is null if the venue has stopped. */
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
        this.answer(this.settleReplay(outcome.orderId));
        return;
      case "refused":
        throw orderRefusal(outcome, { body, market, session, views });
      default:
        throw new Error("an order was executed without an acknowledgement");
    }
  }

  /** Two submissions of one nonce were in flight: the second gets the first's acknowledgement. */
  private settleReplay(orderId: number): Acknowledgement {
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

  /** An account without money is refused before the log, which it could fill for free. */
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

/**
 * The log stores signed bodies completely, even if the engine refuses the command. JSON may be padded
 * with white space up to the transport's limit, so their length is bounded before the log.
 */
export function refuseOverlong(bytes: Uint8Array, limitBytes: number): void {
  if (bytes.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
}

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
