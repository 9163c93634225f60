/**
 * The operations that need a venue, in the types of the contract: the commands. Reads are asked over the
 * link.
 *
 * Each method looks up the session of the token, counts against a limit, and calls the venue. A method
 * that changes state resolves once its command is durable. A method rejects with an `ApiError` for a code of the error table; any other
 * rejection is an internal error.
 */

import type {
  AmendOrderBody,
  BatchBody,
  CanceledOrder,
  CanceledOrders,
  CancelOrderBody,
  CancelTimer,
  EndedSession,
  EndedSessions,
  ExtendedOrderBody,
  MarginBody,
  MarginChange,
  RotateBody,
  RotatedSession,
  SessionToken,
  SignInBody,
} from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import type { SignInRules, SignInServices } from "../auth/sign-in.js";
import { poolVerifier } from "../auth/verification/pool-verifier.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import { Admission } from "../limits/admission.js";
import type { LimitSettings } from "../limits/limit-settings.js";
import { AccountLimits, NewAccountLimit } from "../limits/limits.js";
import type { Caller, Client, SessionOptions, Signed } from "../request.js";
import { BatchFlow, type OperationResult } from "./batch-flow.js";
import { CancelFlow } from "./cancel-flow.js";
import { MarginFlow } from "./margin-flow.js";
import { OrderFlow } from "./order-flow.js";
import { SessionFlow } from "./session-flow.js";
import { SessionGuard } from "./session-guard.js";
import { SessionList } from "./session-list.js";
import { refuseOverlong, type SignedServices, withinFailures } from "./signed-request.js";
import { type LiveSession, type ReceiptedAck, VenueLink } from "./venue-link.js";

export interface VenueGatewayOptions {
  readonly venue: Venue;
  readonly limits: LimitSettings;
  readonly signIn: SignInRules;
  readonly services: SignInServices;
  /** Verifies signatures; by default libuv's thread pool does. */
  readonly signatures?: SignatureVerifier | undefined;
}

/** The public members of `VenueGateway`; tests of the transport implement them with fixed values. */
export type VenueApi = Pick<VenueGateway, keyof VenueGateway>;

export class VenueGateway {
  private readonly link: VenueLink;
  private readonly guard: SessionGuard;
  private readonly admission: Admission;
  private readonly limits: AccountLimits;
  private readonly signedBytes: number;
  private readonly sessions: SessionFlow;
  private readonly sessionsOf: SessionList;
  private readonly placing: OrderFlow;
  private readonly batching: BatchFlow;
  private readonly margins: MarginFlow;
  private readonly canceling: CancelFlow;

  constructor(options: VenueGatewayOptions) {
    const { venue, limits, signIn, services, signatures = poolVerifier } = options;
    this.link = new VenueLink(venue);
    this.guard = new SessionGuard(this.link);
    this.limits = new AccountLimits(limits);
    this.signedBytes = limits.signedBytes;
    this.sessions = new SessionFlow(
      this.link,
      this.guard,
      signIn,
      services,
      signatures,
      new NewAccountLimit(limits),
    );
    this.sessionsOf = new SessionList(this.link, this.guard, signatures);
    this.admission = new Admission(limits.pendingOrders);
    const signed: SignedServices = {
      link: this.link,
      guard: this.guard,
      limits: this.limits,
      admission: this.admission,
      signatures,
      signedBytes: limits.signedBytes,
      batchBytes: limits.batchBytes,
    };
    this.placing = new OrderFlow(signed);
    this.batching = new BatchFlow(signed);
    this.margins = new MarginFlow(signed);
    this.canceling = new CancelFlow(this.link, this.limits);
  }

  /** The last position that is applied here. */
  get position(): number {
    return this.link.venue.seq;
  }

  /** Orders that are admitted and not answered yet. */
  get ordersInFlight(): number {
    return this.admission.inFlight;
  }

  /** Whether other gateways write to the log, so that this one may lag behind what they answered. */
  get isReplicated(): boolean {
    return this.link.venue.isReplicated;
  }

  /** Resolves with whether the position was applied within a second. */
  reached(position: number): Promise<boolean> {
    return this.link.venue.reached(position);
  }

  /** The same; also true once no gateway can have answered with the position before the call. */
  reachedIfAnswered(position: number): Promise<boolean> {
    return this.link.venue.reachedIfAnswered(position);
  }

  /** Resolves once everything is applied that any gateway had answered before the call. */
  caughtUp(): Promise<void> {
    return this.link.caughtUp();
  }

  /** The account number of a live session; throws `invalid_token`. A hash and two look-ups. */
  accountOf(caller: Caller): number {
    return this.guard.sessionOf(caller).account;
  }

  /** The number of a live session; throws `invalid_token`. */
  sessionOf(caller: Caller): number {
    return this.guard.sessionOf(caller).number;
  }

  signIn(client: Client, request: SignInBody): Promise<SessionToken> {
    return this.sessions.signIn(client, request);
  }

  async rotateSession(caller: Caller, request: Signed<RotateBody>): Promise<RotatedSession> {
    const session = this.countedSession(caller);
    refuseOverlong(request.bytes, this.signedBytes);
    return this.withinFailures(caller, session, () =>
      this.sessions.rotate(caller, session, request),
    );
  }

  async endSession(caller: Caller): Promise<EndedSession> {
    return this.sessions.end(this.guard.sessionOf(caller));
  }

  async endSessionById(
    caller: Caller,
    id: string,
    signature: string | undefined,
  ): Promise<EndedSession> {
    const session = this.countedSession(caller);
    return this.withinFailures(caller, session, () => this.sessionsOf.end(session, id, signature));
  }

  async endOtherSessions(caller: Caller, signature: string | undefined): Promise<EndedSessions> {
    const session = this.countedSession(caller);
    return this.withinFailures(caller, session, () =>
      this.sessionsOf.endOthers(session, signature),
    );
  }

  async setSessionOptions(caller: Caller, options: SessionOptions): Promise<void> {
    return this.sessions.setOptions(this.countedSession(caller), options);
  }

  placeOrder(caller: Caller, request: Signed<ExtendedOrderBody>): Promise<ReceiptedAck> {
    return this.placing.place(caller, request);
  }

  amendOrder(caller: Caller, id: string, request: Signed<AmendOrderBody>): Promise<ReceiptedAck> {
    return this.placing.amend(caller, id, request);
  }

  placeBatch(caller: Caller, request: Signed<BatchBody>): Promise<readonly OperationResult[]> {
    return this.batching.run(caller, request);
  }

  changeMargin(caller: Caller, symbol: string, request: Signed<MarginBody>): Promise<MarginChange> {
    return this.margins.change(caller, symbol, request);
  }

  async cancelOrder(caller: Caller, body: CancelOrderBody): Promise<CanceledOrder> {
    return this.canceling.cancel(caller, this.countedSession(caller), body);
  }

  async cancelAllOrders(caller: Caller, symbol: string | undefined): Promise<CanceledOrders> {
    return this.canceling.cancelAll(caller, this.countedSession(caller), symbol);
  }

  async cancelOrdersAfter(caller: Caller, afterMs: number): Promise<CancelTimer> {
    return this.canceling.cancelAfter(this.countedSession(caller), afterMs);
  }

  private withinFailures<T>(
    caller: Caller,
    session: LiveSession,
    attempt: () => Promise<T>,
  ): Promise<T> {
    const { limits, guard } = this;
    return withinFailures({ limits, guard }, caller, session, attempt);
  }

  /** The live session, counted against the limit of cancels and other commands that are not orders. */
  private countedSession(caller: Caller): LiveSession {
    const session = this.guard.sessionOf(caller);
    if (caller.isCounted !== true) this.limits.cancels.take(session.account, caller.header);
    return session;
  }
}
