/**
 * A signed command, in these steps:
 *
 *   token → rate limit → repeated nonce → length → admission → body → funds → signature → log
 *
 * A nonce that was used with the same body returns the first answer, without a signature check and also
 * after a restart, so that a retry is always safe. With another body it is a conflict, which is revealed
 * only if the signature is valid. Once a command is submitted, its answer is its outcome.
 *
 * The signature check and the log call back into one object with one promise: a promise per step took a
 * tenth of an order's time.
 */

import { timingSafeEqual } from "node:crypto";
import { ApiError } from "@perpgate/protocol/core";
import type { Applied } from "@perpgate/venue";
import {
  digestOf,
  doesNotVerify,
  isFailedSignature,
  readSignature,
} from "../auth/order-signature.js";
import type { SessionKey } from "../auth/session-key.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import type { Admission } from "../limits/admission.js";
import { signedCost } from "../limits/costs.js";
import type { AccountLimits, Limit } from "../limits/limits.js";
import type { Caller, Signed } from "../request.js";
import type { CommandOrigin } from "./order-command.js";
import { about } from "./order-refusals.js";
import type { SessionGuard } from "./session-guard.js";
import { type LiveSession, unanswered, type VenueLink } from "./venue-link.js";

const NO_KEY = new Uint8Array(0);

export interface SignedServices {
  readonly link: VenueLink;
  readonly guard: SessionGuard;
  readonly limits: AccountLimits;
  /** By session. */
  readonly failedSignatures: Limit<number>;
  readonly admission: Admission;
  readonly signatures: SignatureVerifier;
  /** Maximum bytes of a signed body, and of a batch. */
  readonly signedBytes: number;
  readonly batchBytes: number;
}

export interface SignedBody {
  readonly nonce: number;
  readonly validUntil?: number;
}

/** The evidence that the log stores with the command. */
export interface OrderEvidence {
  readonly signed: Uint8Array;
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** An admitted request: settles its promise once, and calls `admission.leave` once. */
export abstract class SignedRequest<Body extends SignedBody, Answer> {
  /** Set while a refusal by this gateway's own state may be overtaken by the log. */
  private onLocalRefusal: ((error: unknown) => void) | undefined;

  constructor(
    protected readonly services: SignedServices,
    protected readonly caller: Caller,
    protected session: LiveSession,
    protected readonly request: Signed<Body>,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /**
   * Checks the body, which costs less than the signature, and returns what submits the command.
   * @throws ApiError for a body that no state of the venue accepts.
   */
  protected abstract prepare(origin: CommandOrigin, evidence: OrderEvidence): () => void;

  /** Answers with what the nonce was used for, if that had the same body; otherwise false. */
  protected abstract answerAsBefore(usedBy: number): boolean;

  /** With the seq of the command that used the nonce for another body: only the conflict is reported. */
  begin(usedBy: number): void {
    const { link, failedSignatures } = this.services;
    try {
      failedSignatures.refuseIfSpent(this.session.number, this.caller.header);
    } catch (error) {
      this.refuse(error);
      return;
    }
    if (!link.isReplicated) {
      this.judge(usedBy);
      return;
    }
    if (this.refuseIfTimeIsBehind()) return;
    // What this gateway would refuse by its own state, it judges again once it has caught up.
    this.onLocalRefusal = (error) => {
      this.onLocalRefusal = undefined;
      if (!(error instanceof ApiError)) {
        this.refuse(error);
        return;
      }
      link
        .caughtUp()
        .then(() => this.judgeAgain())
        .catch((failure: unknown) => this.refuse(failure));
    };
    this.judge(usedBy);
  }

  /**
   * The session's key may have been rotated at another gateway meanwhile. An earlier try may have been
   * executed there: then that answers.
   */
  private judgeAgain(): void {
    const { guard, link } = this.services;
    this.session = guard.current(this.session);
    const usedBy = link.views.seqOfNonce(this.session, this.request.body.nonce);
    if (usedBy !== 0 && this.answerAsBefore(usedBy)) return;
    // The log may have stalled meanwhile.
    if (!this.refuseIfTimeIsBehind()) this.judge(usedBy);
  }

  private refuseIfTimeIsBehind(): boolean {
    const { isTimeBehind } = this.services.link;
    if (isTimeBehind) this.refuse(unanswered("not_executed"));
    return isTimeBehind;
  }

  private judge(usedBy: number): void {
    try {
      const { guard, link } = this.services;
      const { body, bytes, signature: header } = this.request;
      const key = guard.keyOf(this.session);
      const signature = readSignature(header, key, bytes);
      if (usedBy !== 0) {
        this.verify(key, signature, () => this.refuse(conflict(body.nonce, usedBy)));
        return;
      }
      const origin = {
        stampMs: link.nowMs(),
        session: this.session.number,
        key: key.fingerprint,
        nonce: body.nonce,
        validUntilMs: body.validUntil ?? 0,
      };
      const evidence = { signed: bytes, signature, publicKey: NO_KEY };
      this.verify(key, signature, this.prepare(origin, evidence));
    } catch (error) {
      this.refuseLocally(error);
    }
  }

  private refuseLocally(error: unknown): void {
    if (this.onLocalRefusal === undefined) this.refuse(error);
    else this.onLocalRefusal(error);
  }

  /**
   * An account without money is refused before the log, which it could fill for free. One with a position
   * may close it: funding may have taken all margin of a position that its profit keeps open.
   */
  protected refuseWithoutFunds(): void {
    const { views } = this.services.link;
    const { account } = this.session;
    if (views.walletMicros(account) > 0 || views.hasPosition(account)) return;
    if (views.money(account).balance > 0) return;
    throw about("margin", "insufficient_margin", { maxMargin: 0 });
  }

  /** Inside the apply callback: counts and charges what the command took; must not throw. */
  protected countWork(applied: Applied): void {
    const { link, limits } = this.services;
    const { account } = this.session;
    countWork(limits.orders, account, this.caller, link.views.workUnits(applied));
  }

  protected answer(answer: Answer): void {
    this.services.admission.leave();
    this.resolve(answer);
  }

  protected refuse(error: unknown): void {
    const { admission, failedSignatures } = this.services;
    if (isFailedSignature(error)) failedSignatures.count(this.session.number);
    admission.leave();
    this.reject(error);
  }

  private verify(key: SessionKey, signature: Uint8Array, proceed: () => void): void {
    const { bytes } = this.request;
    const { signatures, admission } = this.services;
    this.caller.charge?.(signedCost(key.kind, bytes.length));
    const onVerdict = (error: Error | null, isValid: boolean): void => {
      if (error !== null || !isValid) {
        this.refuseLocally(error ?? doesNotVerify(key, bytes));
        return;
      }
      try {
        proceed();
      } catch (failure) {
        this.refuse(failure);
      }
    };
    signatures.verify(key, bytes, signature, onVerdict, admission.isCalm);
  }
}

/** Counts the units that a command reports against its limit, and charges them. */
export function countWork(
  limit: Limit<number>,
  account: number,
  caller: Caller,
  units: number,
): void {
  if (units === 0) return;
  limit.countWork(account, units);
  caller.chargeWork?.(units);
}

/**
 * The log stores signed bodies completely, even if the engine refuses the command. JSON may be padded
 * with white space up to the transport's limit, so their length is bounded before the log.
 */
export function refuseOverlong(bytes: Uint8Array, limitBytes: number): void {
  if (bytes.length > limitBytes) throw new ApiError("body_too_large", { limitBytes });
}

/** What a nonce was used for: where its answer is, and the digest of its body. */
interface Used {
  readonly digest: Uint8Array;
}

export function isSameBody(used: Used, bytes: Uint8Array): boolean {
  return timingSafeEqual(used.digest, digestOf(bytes));
}

export function markReplayed({ header }: Caller): void {
  header("idempotent-replay", "true");
}

export function conflict(nonce: number, usedBy: number): ApiError {
  return about("nonce", "nonce_conflict", { nonce, ackNonce: String(usedBy) });
}
