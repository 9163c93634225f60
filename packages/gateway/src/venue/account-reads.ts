/** What a session may read of its own account. Each read counts against the account's read limit. */

import type {
  Account,
  Fill,
  FillsQuery,
  FundingPayment,
  LedgerEntry,
  LedgerQuery,
  Order,
  OrdersQuery,
  Position,
  PreconfirmProof,
} from "@perpgate/protocol";
import { ApiError, hexFromBytes } from "@perpgate/protocol/core";
import type { Views } from "@perpgate/venue";
import type { Caller } from "../request.js";
import { ownOrder } from "./cancel-flow.js";
import { checksummed } from "./deposit-flow.js";
import { ordersFor } from "./orders-query.js";
import type { LiveSession, VenueLink } from "./venue-link.js";

export class AccountReads {
  constructor(
    private readonly link: VenueLink,
    private readonly readingSession: (caller: Caller) => LiveSession,
  ) {}

  async account(caller: Caller): Promise<Account> {
    const { session, ...account } = this.views.account(this.readingSession(caller));
    return {
      ...account,
      address: checksummed(account.address),
      session: { ...session, expiresAt: this.link.wallTimeOf(session.expiresAt) },
    };
  }

  async orders(
    caller: Caller,
    query: OrdersQuery,
    onRead: (rows: number) => void,
  ): Promise<Order[]> {
    return ordersFor(this.views, this.accountFor(caller, query), query, onRead);
  }

  async order(caller: Caller, orderId: string): Promise<Order> {
    return ownOrder(this.link, this.readingSession(caller).account, orderId);
  }

  async positions(caller: Caller): Promise<Position[]> {
    return this.views.positions(this.readingSession(caller).account);
  }

  async fills(caller: Caller, query: FillsQuery): Promise<Fill[]> {
    return this.views.fills(this.accountFor(caller, query), query);
  }

  /** `onRead` gets the rows that were read for it and are not in the answer, which pays for its own. */
  async ledger(
    caller: Caller,
    query: LedgerQuery,
    onRead: (rows: number) => void,
  ): Promise<LedgerEntry[]> {
    let read = 0;
    const entries = this.views.ledger(this.accountFor(caller, query), query, (rows) => {
      read += rows;
    });
    onRead(Math.max(0, read - entries.length));
    return entries;
  }

  async fundingPayments(caller: Caller, query: LedgerQuery): Promise<FundingPayment[]> {
    return this.views.fundingPayments(this.accountFor(caller, query), query);
  }

  /** The first proof of a block reads all its acknowledgements, and the hashes of its tile. */
  async preconfirm(
    caller: Caller,
    ackNonce: string,
    onRead: (rows: number) => void,
  ): Promise<PreconfirmProof> {
    const { account } = this.readingSession(caller);
    const proof = await this.views.preconfirm(account, Number(ackNonce), onRead);
    if (proof === undefined) throw new ApiError("preconfirm_not_found", { ackNonce });
    if (proof === "not_sealed") throw new ApiError("not_sealed", { ackNonce });
    const { promises } = this.link.venue;
    const path = promises?.blockPath(proof.block, onRead)?.map((hash) => `0x${hexFromBytes(hash)}`);
    const checkpoint = promises?.log.published?.note;
    const isCovered = path !== undefined && checkpoint !== undefined;
    return { ...proof, log: isCovered ? { checkpoint, path } : null };
  }

  /** The proof of an own acknowledgement as a text file. */
  async preconfirmProof(
    caller: Caller,
    ackNonce: string,
    onRead: (rows: number) => void,
  ): Promise<string> {
    await this.preconfirm(caller, ackNonce, onRead);
    const proof = await this.link.promises().orderProof(Number(ackNonce), onRead);
    if (proof === undefined) throw new ApiError("not_in_checkpoint", { ackNonce });
    return proof;
  }

  /** The caller's account. A filter by an unknown symbol is a mistake, not an empty list. */
  private accountFor(caller: Caller, { symbol }: { readonly symbol?: string }): number {
    const { account } = this.readingSession(caller);
    if (symbol !== undefined && this.views.marketNumber(symbol) === undefined) {
      throw new ApiError("unknown_symbol", { symbol }, { field: "symbol" });
    }
    return account;
  }

  private get views(): Views {
    return this.link.views;
  }
}
