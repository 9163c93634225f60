/**
 * A signed command, whose signature the edge has checked, in these steps:
 *
 *   session → its key → rate limit → repeated nonce → body → funds → log
 *
 * One that its edge sends again, because a core or link was lost, is looked up first: an answer that is
 * there is given whatever has become of key and limits meanwhile, and nothing is counted.
 *
 * A nonce that was used with the same body returns the first answer, also after a restart and also without
 * a signature that holds, so that a retry is always safe. With another body it is a conflict, which is
 * revealed only with one. Once a command is submitted, its answer is its outcome.
 *
 * The log calls back into one object, without promises: a promise per step took a tenth of an order's time.
 */

import { timingSafeEqual } from "node:crypto";
import type { Session } from "@perpgate/engine/reading";
import type { NotesInMaking } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import { sha256 } from "../blocks/merkle.js";
import type { Evidence } from "../record/record.js";
import type { Applied } from "../replica.js";
import type { Venue } from "../venue.js";
import { knownSession } from "./account-calls.js";
import type { AccountLimit } from "./account-limits.js";
import { type RefusedOutcome, unanswered, type VenueCommand } from "./execution.js";
import type { CommandOrigin } from "./order-command.js";
import { about } from "./order-refusals.js";

const NO_KEY = new Uint8Array(0);

export interface SignedServices {
  readonly venue: Venue;
  readonly orders: AccountLimit;
  readonly cancels: AccountLimit;
}

export interface SignedBody {
  readonly nonce: number;
  readonly validUntil?: number;
}

/** What an edge sends. */
interface Signed<Body> {
  readonly session: number;
  /** Fingerprint of the key with which the edge has judged the signature. */
  readonly key: string;
  readonly body: Body;
  /** The bytes that the body was parsed from. */
  readonly bytes: Uint8Array;
  /** Undefined: none that holds, so that only a repeated command is answered. */
  readonly signature: Uint8Array | undefined;
}

/** Answers with undefined if nothing was executed for a request without a signature that holds. */
interface SignedReply<Answer> {
  answer(body: { readonly result: Answer | undefined }): void;
  refuse(error: unknown): void;
}

export abstract class SignedRequest<Body extends SignedBody, Answer> {
  protected readonly session: Session;
  private hashed: Uint8Array | undefined;

  /** @throws ApiError `invalid_token`, `session_key_rotated` */
  constructor(
    protected readonly services: SignedServices,
    protected readonly request: Signed<Body>,
    protected readonly notes: NotesInMaking,
    private readonly reply: SignedReply<Answer>,
  ) {
    this.session = notes.asked.isAgain ? this.formerSession() : this.judgedSession();
  }

  /** Counts the request. @throws ApiError `rate_limited` */
  protected abstract count(): void;

  /**
   * Checks the body and returns what submits the command.
   * @throws ApiError for a body that the venue does not accept.
   */
  protected abstract prepare(origin: CommandOrigin, evidence: Evidence): () => void;

  /** Answers with what the nonce was used for, if that had the same body; otherwise false. */
  protected abstract answerAsBefore(usedBy: number): boolean;

  /** @throws ApiError */
  begin(): void {
    const { venue } = this.services;
    const { isAgain } = this.notes.asked;
    if (!isAgain) this.count();
    const usedBy = this.usedBy();
    if (usedBy !== 0 && this.answerAsBefore(usedBy)) return;
    if (isAgain) {
      this.judgedSession();
      this.count();
    }
    if (venue.isReplicated && venue.isTimeBehind) throw unanswered("not_executed");
    const { body, bytes, signature, key, session } = this.request;
    if (signature === undefined) {
      this.reply.answer({ result: undefined });
      return;
    }
    if (usedBy !== 0) throw conflict(body.nonce, usedBy);
    const { nonce, validUntil = 0 } = body;
    const origin = { stampMs: venue.nowMs(), session, key, nonce, validUntilMs: validUntil };
    this.prepare(origin, { signed: bytes, signature, publicKey: NO_KEY })();
  }

  /** With a session go its nonces: what the request has done then is not known. */
  private formerSession(): Session {
    const session = this.services.venue.views.session(this.request.session);
    if (session === undefined) throw unanswered("outcome_unknown");
    return session;
  }

  /** The session, if its key is the one that the edge has judged with. */
  private judgedSession(): Session {
    const session = knownSession(this.services.venue, this.request.session);
    if (session.key === this.request.key) return session;
    throw new ApiError("session_key_rotated", {}, { field: "X-Service-Sig" });
  }

  private usedBy(): number {
    return this.services.venue.views.seqOfNonce(this.session, this.request.body.nonce);
  }

  /** SHA-256 of the signed bytes. */
  protected get digest(): Uint8Array {
    this.hashed ??= sha256(this.request.bytes);
    return this.hashed;
  }

  protected hasBody({ digest }: { readonly digest: Uint8Array }): boolean {
    return timingSafeEqual(digest, this.digest);
  }

  /**
   * An account without money is refused before the log, which it could fill for free. One with a position
   * may close it: funding may have taken all margin of a position that its profit keeps open.
   */
  protected refuseWithoutFunds(): void {
    const { views } = this.services.venue;
    const { account } = this.session;
    if (views.walletMicros(account) > 0 || views.hasPosition(account)) return;
    if (views.money(account).balance > 0) return;
    throw about("margin", "insufficient_margin", { maxMargin: 0 });
  }

  /** Inside the apply callback: counts what the command took; must not throw. */
  protected countWork(applied: Applied): void {
    const { venue, orders } = this.services;
    orders.countWork(this.session.account, venue.views.workUnits(applied), this.notes);
  }

  /** Submits the command. The two functions run inside the apply callback. */
  protected submit(
    command: VenueCommand,
    evidence: Evidence,
    refusalOf: (outcome: RefusedOutcome) => Error,
    answerTo: (applied: Applied) => Answer,
  ): void {
    const { venue } = this.services;
    venue.submit(command, evidence, (applied, why) => {
      try {
        if (applied === null) throw unanswered(why);
        this.countWork(applied);
        const outcome = venue.views.outcome(applied);
        if (outcome.kind === "refused") throw refusalOf(outcome);
        if (outcome.kind === "replayed") this.answerReplay(outcome.orderId);
        else this.answer(answerTo(applied));
      } catch (error) {
        this.refuse(error);
      }
    });
  }

  /** Two submissions of one nonce were in flight: the second gets the answer to the first. */
  protected answerReplay(usedBy: number): void {
    if (!this.answerAsBefore(usedBy)) throw conflict(this.request.body.nonce, usedBy);
  }

  protected answer(result: Answer): void {
    this.reply.answer({ result });
  }

  protected refuse(error: unknown): void {
    this.reply.refuse(error);
  }
}

export function conflict(nonce: number, usedBy: number): ApiError {
  return about("nonce", "nonce_conflict", { nonce, ackNonce: String(usedBy) });
}
