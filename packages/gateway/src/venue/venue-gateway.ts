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
  ExtendedOrderBody,
  MarginBody,
  MarginChange,
} from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import { poolVerifier } from "../auth/verification/pool-verifier.js";
import type { SignatureVerifier } from "../auth/verification/signature-verifier.js";
import { Admission } from "../limits/admission.js";
import type { LimitSettings } from "../limits/limit-settings.js";
import { AccountLimits, type Limit } from "../limits/limits.js";
import type { Caller, Signed } from "../request.js";
import { BatchFlow, type OperationResult } from "./batch-flow.js";
import { CancelFlow } from "./cancel-flow.js";
import { MarginFlow } from "./margin-flow.js";
import { OrderFlow } from "./order-flow.js";
import { SessionGuard } from "./session-guard.js";
import type { SignedServices } from "./signed-request.js";
import { type LiveSession, type ReceiptedAck, VenueLink } from "./venue-link.js";

export interface VenueGatewayOptions {
  readonly venue: Venue;
  readonly limits: LimitSettings;
  /** By session. */
  readonly failedSignatures: Limit<number>;
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
  private readonly placing: OrderFlow;
  private readonly batching: BatchFlow;
  private readonly margins: MarginFlow;
  private readonly canceling: CancelFlow;

  constructor(options: VenueGatewayOptions) {
    const { venue, limits, failedSignatures, signatures = poolVerifier } = options;
    this.link = new VenueLink(venue);
    this.guard = new SessionGuard(this.link);
    this.limits = new AccountLimits(limits);
    this.admission = new Admission(limits.pendingOrders);
    const signed: SignedServices = {
      link: this.link,
      guard: this.guard,
      limits: this.limits,
      failedSignatures,
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

  /** Orders that are admitted and not answered yet. */
  get ordersInFlight(): number {
    return this.admission.inFlight;
  }

  /** Whether other gateways write to the log, so that this one may lag behind what they answered. */
  get isReplicated(): boolean {
    return this.link.venue.isReplicated;
  }

  /** Resolves once everything is applied that any gateway had answered before the call. */
  caughtUp(): Promise<void> {
    return this.link.caughtUp();
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

  /** The live session, counted against the limit of cancels and other commands that are not orders. */
  private countedSession(caller: Caller): LiveSession {
    const session = this.guard.sessionOf(caller);
    if (caller.isCounted !== true) this.limits.cancels.take(session.account, caller.header);
    return session;
  }
}
