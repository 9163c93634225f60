/**
 * A request that the session's key signs: the edge checks the signature, the core does the rest.
 *
 * A nonce that was used with the same body is answered without a signature that holds. So a request that
 * is refused here (too many in flight, a signature that does not hold, too many of those) is sent without
 * a signature, and refused once the core has found nothing to repeat.
 *
 * The core refuses a request that was judged with an older key than the session's. It is judged again,
 * once, with the new one.
 *
 * The answer calls back into one object with one promise.
 */

import type { Notes } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import type { EdgeSession } from "../auth/edge-sessions.js";
import { checkSignature, isFailedSignature, readSignature } from "../auth/order-signature.js";
import type { Edge } from "../edge.js";
import { chargeBoth, chargeWork } from "../limits/charge-operation.js";
import type { CostBudgets } from "../limits/cost-budget.js";
import { signedCost } from "../limits/costs.js";
import { showCounted, showRetryAfter } from "../limits/limits.js";
import type { TimedClient } from "./handler.js";

/** What a request says of its session and its signature. */
interface Evidence {
  readonly session: number;
  readonly key: string;
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array | undefined;
}

/** The core's answer; without a result nothing was executed, and nothing is to be repeated. */
interface SignedAnswer<Result> {
  readonly result: Result | undefined;
}

interface SignedOutcome<Result> {
  answered(answer: SignedAnswer<Result>, notes: Notes): void;
  refused(error: Error, notes: Notes | undefined): void;
}

interface Signed {
  readonly session: EdgeSession;
  readonly bytes: Uint8Array;
  /** The `X-Service-Sig` header as sent. */
  readonly header: string | undefined;
  readonly client: TimedClient;
  readonly budgets: CostBudgets;
}

/** `ask` sends the request with its evidence. */
export function askSigned<Result>(
  edge: Edge,
  signed: Signed,
  ask: (evidence: Evidence, outcome: SignedOutcome<Result>) => void,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    new SignedCall(edge, signed, ask, resolve, reject).begin();
  });
}

class SignedCall<Result> implements SignedOutcome<Result> {
  private session: EdgeSession;
  /** Why the request has no signature; the client is shown it if there is nothing to repeat. */
  private failure: unknown;
  /** Headers of the failure. */
  private headers: (readonly [string, string])[] = [];
  private isAdmitted = false;
  /** Whether the signature was counted as one that failed: at once, so that those in flight count, too. */
  private isCounted = false;
  /** The core's refusal of the first judgement; of a signature that held with the old key. */
  private rotated: ApiError | undefined;
  private isSecond = false;

  constructor(
    private readonly edge: Edge,
    private readonly signed: Signed,
    private readonly ask: (evidence: Evidence, outcome: SignedOutcome<Result>) => void,
    private readonly resolve: (result: Result) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    this.session = signed.session;
  }

  begin(): void {
    try {
      this.edge.admission.enter(this.hold);
      this.isAdmitted = true;
    } catch (error) {
      this.send(undefined, error);
      return;
    }
    this.judge();
  }

  private judge(): void {
    const { edge, session, signed } = this;
    const { key, number } = session;
    const { bytes, client, budgets } = signed;
    let signature: Uint8Array;
    try {
      edge.failedSignatures.refuseIfSpent(number, this.hold);
      signature = readSignature(signed.header, key, bytes);
      chargeBoth(budgets, client, signedCost(key.kind, bytes.length));
      checkSignature(edge.signatures, key, bytes, signature);
    } catch (error) {
      this.isCounted = isFailedSignature(error);
      if (this.isCounted) edge.failedSignatures.count(number);
      this.send(undefined, error);
      return;
    }
    this.send(signature, undefined);
  }

  private send(signature: Uint8Array | undefined, failure: unknown): void {
    const { session, signed } = this;
    this.failure = failure;
    const { bytes } = signed;
    const key = session.key.fingerprint;
    try {
      this.ask({ session: session.number, key, bytes, signature }, this);
    } catch (error) {
      this.refuse(error);
    }
  }

  answered({ result }: SignedAnswer<Result>, notes: Notes): void {
    this.note(notes);
    if (result === undefined) {
      this.fail();
      return;
    }
    this.giveBack();
    this.leave();
    this.resolve(result);
  }

  refused(error: Error, notes: Notes | undefined): void {
    const { session, signed, edge } = this;
    if (notes !== undefined) this.note(notes);
    if (error instanceof ApiError) {
      if (error.code === "rate_limited") showRetryAfter(error, signed.client.header);
      if (error.code === "invalid_token") edge.sessions.drop(session.number);
      if (error.code === "session_key_rotated" && !this.isSecond) {
        this.judgeAgain(error);
        return;
      }
    }
    this.refuse(error);
  }

  private judgeAgain(error: ApiError): void {
    const { session, edge } = this;
    this.isSecond = true;
    this.giveBack();
    if (this.failure === undefined) this.rotated = error;
    this.headers = [];
    edge.sessions.refreshed(session).then(
      (current) => {
        if (current === undefined) {
          this.refuse(new ApiError("invalid_token", {}));
        } else if (current.key.fingerprint === session.key.fingerprint) {
          this.refuse(error);
        } else {
          this.session = current;
          if (this.isAdmitted) this.judge();
          else this.send(undefined, this.failure);
        }
      },
      (failure: unknown) => this.refuse(failure),
    );
  }

  /** Nothing is to be repeated: the failure stands. */
  private fail(): void {
    const { rotated, failure, headers, signed } = this;
    if (rotated !== undefined && isFailedSignature(failure)) {
      this.giveBack();
      this.refuse(rotated);
      return;
    }
    for (const [name, value] of headers) signed.client.header(name, value);
    this.refuse(failure);
  }

  /** The signature has failed for no fault of the session's: the body was executed before, or the key rotated. */
  private giveBack(): void {
    if (this.isCounted) this.edge.failedSignatures.giveBack(this.session.number);
    this.isCounted = false;
  }

  private note({ counted, work, isReplay }: Notes): void {
    const { client, budgets } = this.signed;
    if (counted !== undefined) showCounted(counted, client.header);
    if (work > 0) chargeWork(budgets, client, work);
    if (isReplay) client.header("idempotent-replay", "true");
  }

  private refuse(error: unknown): void {
    this.leave();
    this.reject(error);
  }

  private leave(): void {
    if (this.isAdmitted) this.edge.admission.leave();
  }

  private readonly hold = (name: string, value: string): void => {
    this.headers.push([name, value]);
  };
}
