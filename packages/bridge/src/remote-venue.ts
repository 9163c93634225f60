/**
 * A remote venue over the HTTP interface of its gateways: queue and votes are the same at each. After a
 * request that fails, the next one goes to the next gateway. Requests for deposits are signed with the
 * attestor's key; votes contain their signature.
 *
 * Responses are checked for their shape only: an attestor votes on what it reads from the chain, so a
 * lying venue gains nothing.
 */

import { type KeyObject, sign } from "node:crypto";
import {
  BodyTooLargeError,
  BridgeInfo,
  type Chain,
  type CreditedDeposit,
  connectionErrorCode,
  type DepositPage,
  DepositQueue,
  type DepositQueueBody,
  fetchWithin,
  hexFromBytes,
  MAX_VOTES_PER_REQUEST,
  OpenWithdrawals,
  type PendingDeposit,
  type QueueOrder,
  SIGNATURE_HEADER,
  type SubmittedVote,
  TimeLimitError,
  VotesAnswer,
  voteText,
  withdrawalVoteText,
} from "@perpgate/protocol";
import {
  getBridge,
  getDepositQueue,
  getOpenWithdrawals,
  type Operation,
  submitDepositVotes,
} from "@perpgate/protocol/operations";
import { Ajv, type ValidateFunction } from "ajv";
import { dialectOf } from "./config/chain-config.js";
import {
  type ChainTerms,
  type DepositPort,
  type VenueTerms,
  VenueUnreachable,
} from "./venue-port.js";
import type { SignedVote } from "./vote.js";
import type {
  OpenWithdrawalPage,
  SignedWithdrawalVote,
  WithdrawalPort,
} from "./withdraw/withdrawal-port.js";

interface RemoteVenueOptions {
  /** URLs of the gateways, such as `https://perpgate.example`. */
  readonly urls: readonly string[];
  /** Private keys of the local attestors, by index. */
  readonly keys: ReadonlyMap<number, KeyObject>;
  readonly clock: () => number;
  readonly timeoutMs: number;
  /** Aborts reads, and no request starts after it; votes in flight are left alone. */
  readonly stop?: AbortSignal;
}

interface RequestParts {
  readonly body?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isVote?: boolean;
}

/** Below the gateway's limit of 65,536 bytes. */
const MAX_BODY_BYTES = 60_000;
/** Far larger than a page of the queue or the refusals of a request. */
const MAX_RESPONSE_BYTES = 8_388_608;
/** Statuses below 500 that a retry may resolve. */
const TEMPORARY = new Set([408, 425, 429]);

export class RemoteVenue implements DepositPort, WithdrawalPort {
  private readonly isBridge: ValidateFunction<BridgeInfo>;
  private readonly isQueue: ValidateFunction<DepositQueue>;
  private readonly isOpenWithdrawals: ValidateFunction<OpenWithdrawals>;
  private readonly isVotesAnswer: ValidateFunction<VotesAnswer>;
  private venueId = "";
  /** How many times a request has moved to the next gateway. */
  private moves = 0;

  constructor(private readonly options: RemoteVenueOptions) {
    // Compiled here because every venue loads this module and few use it.
    const ajv = new Ajv();
    this.isBridge = ajv.compile<BridgeInfo>(BridgeInfo);
    this.isQueue = ajv.compile<DepositQueue>(DepositQueue);
    this.isOpenWithdrawals = ajv.compile<OpenWithdrawals>(OpenWithdrawals);
    this.isVotesAnswer = ajv.compile<VotesAnswer>(VotesAnswer);
  }

  async terms(): Promise<VenueTerms> {
    const { status, answer } = await this.request(getBridge, { headers: this.signedRead() });
    if (status !== 200) throw new VenueUnreachable(errorIn(status, answer));
    if (!this.isBridge(answer) || answer.venueId === null) {
      throw new VenueUnreachable("the venue has no chain attestors, or another version");
    }
    this.venueId = answer.venueId;
    const { venueId, members, chains } = answer;
    return { venueId, members, chains: chains.map(termsOf) };
  }

  async pending(
    chain: Chain,
    attestor: number,
    order: QueueOrder,
    after: number,
  ): Promise<DepositPage<PendingDeposit>> {
    const page = await this.page({ attestor, chain, queue: "pending", order, since: 0 }, after);
    const isForward = ({ depositId }: { depositId: string }): boolean =>
      after === 0 ||
      (order === "ascending" ? Number(depositId) > after : Number(depositId) < after);
    if (!page.deposits.every(isForward)) {
      throw new VenueUnreachable("the venue's queue does not advance");
    }
    return {
      next: nextOf(page, after, order),
      rows: page.deposits.map((row) => ({
        depositId: Number(row.depositId),
        txHash: row.txHash,
        account: row.account,
        status: row.status === "queued" ? "queued" : "confirming",
        registeredAtMs: row.registeredAt,
        creditedParts: row.creditedParts,
        ...(row.lastCreditedLog === undefined ? {} : { lastCreditedLog: row.lastCreditedLog }),
        ownVote: row.ownVote,
      })),
    };
  }

  async credited(
    chain: Chain,
    attestor: number,
    sinceMs: number,
    after: number,
  ): Promise<DepositPage<CreditedDeposit>> {
    const since = Math.max(0, sinceMs);
    const order = "ascending";
    const page = await this.page({ attestor, chain, queue: "credited", order, since }, after);
    return {
      next: nextOf(page, after, order),
      rows: page.deposits.map(({ depositId, txHash, creditedAt, credits, isMarked, ownVote }) => ({
        depositId: Number(depositId),
        txHash,
        creditedAtMs: creditedAt ?? 0,
        credits,
        isMarked,
        ownVote,
      })),
    };
  }

  async submit(votes: readonly SignedVote[]): Promise<readonly (string | null)[]> {
    return this.send(votes.map(({ vote, signature }) => ({ text: voteText(vote), signature })));
  }

  private async send(votes: readonly WireVote[]): Promise<readonly (string | null)[]> {
    const refusals: (string | null)[] = [];
    for (const batch of batchesOf(votes)) {
      const { status, answer } = await this.request(submitDepositVotes, {
        body: JSON.stringify({ votes: batch }),
        isVote: true,
      });
      if (status !== 200) {
        const reason = errorIn(status, answer);
        // One of the votes is at fault; the caller finds out which.
        if (isRefusedVote(status)) throw new Error(reason);
        throw new VenueUnreachable(reason);
      }
      if (!this.isVotesAnswer(answer) || answer.refusals.length !== batch.length) {
        throw new VenueUnreachable("the venue's response to votes is malformed");
      }
      refusals.push(...answer.refusals);
    }
    return refusals;
  }

  async openWithdrawals(chain: Chain, after: number): Promise<OpenWithdrawalPage> {
    const query = `?chain=${chain}${after === 0 ? "" : `&after=${after}`}`;
    const { status, answer } = await this.request(getOpenWithdrawals, {
      query,
      headers: this.signedRead(),
    });
    if (status !== 200) throw new VenueUnreachable(errorIn(status, answer));
    if (!this.isOpenWithdrawals(answer)) {
      throw new VenueUnreachable("the venue's open withdrawals are malformed");
    }
    const { withdrawals: rows, next } = answer;
    if (next !== null && Number(next) <= after) {
      throw new VenueUnreachable("the venue's open withdrawals do not advance");
    }
    return { rows, next: next === null ? null : Number(next) };
  }

  async submitOnWithdrawals(
    votes: readonly SignedWithdrawalVote[],
  ): Promise<readonly (string | null)[]> {
    return this.send(
      votes.map(({ vote, signature }) => ({ text: withdrawalVoteText(vote), signature })),
    );
  }

  submitHoldings(statements: readonly SubmittedVote[]): Promise<readonly (string | null)[]> {
    return this.send(statements);
  }

  /** Signed, although it has no body: a signed read counts against the limit of attestors. */
  private signedRead(): Readonly<Record<string, string>> {
    const [key] = this.options.keys.values();
    return key === undefined ? {} : signatureOf("", key);
  }

  private async page(
    asked: Pick<DepositQueueBody, "attestor" | "chain" | "queue" | "order" | "since">,
    after: number,
  ): Promise<DepositQueue> {
    const key = this.options.keys.get(asked.attestor);
    if (key === undefined) throw new RangeError(`attestor ${asked.attestor} does not run here`);
    const venue = this.venueId;
    const time = this.options.clock();
    const body = JSON.stringify({ venue, ...asked, after: String(after), time });
    const headers = signatureOf(body, key);
    const { status, answer } = await this.request(getDepositQueue, { body, headers });
    if (status !== 200) throw new VenueUnreachable(errorIn(status, answer));
    if (!this.isQueue(answer)) throw new VenueUnreachable("the venue's queue is malformed");
    return answer;
  }

  private async request(
    operation: Operation,
    parts: RequestParts,
  ): Promise<{ readonly status: number; readonly answer: unknown }> {
    const { moves } = this;
    try {
      const answered = await this.ask(this.urlAt(moves), operation, parts);
      if (isOfGateway(answered.status, parts)) this.moveFrom(moves);
      return answered;
    } catch (error) {
      this.moveFrom(moves);
      throw error;
    }
  }

  private urlAt(moves: number): string {
    const { urls } = this.options;
    return urls[moves % urls.length]!;
  }

  /** Requests that fail together at one gateway move once. */
  private moveFrom(moves: number): void {
    if (this.moves === moves) this.moves++;
  }

  private async ask(
    url: string,
    { method, path }: Operation,
    { body, query = "", headers = {}, isVote = false }: RequestParts,
  ): Promise<{ readonly status: number; readonly answer: unknown }> {
    const { timeoutMs, stop } = this.options;
    if (stop?.aborted === true) throw new VenueUnreachable("the attestor stops");
    const { status, text } = await fetchWithin(
      { timeoutMs, maxBytes: MAX_RESPONSE_BYTES, signal: isVote ? undefined : stop },
      (signal) =>
        fetch(addressOf(url, path, query), {
          method,
          headers:
            body === undefined ? headers : { "content-type": "application/json", ...headers },
          ...(body === undefined ? {} : { body }),
          signal,
        }),
    ).catch((error: unknown): never => {
      throw new VenueUnreachable(`the venue cannot be reached: ${failureOf(error)}`, {
        cause: error,
      });
    });
    const answer = jsonOf(text);
    if (status === 200 && answer === undefined) {
      throw new VenueUnreachable("the venue responded 200 without JSON");
    }
    return { status, answer };
  }
}

/** Whether a refusal may be this gateway's alone: one of a vote is, in general, the vote's fault. */
function isOfGateway(status: number, { isVote = false }: RequestParts): boolean {
  return status !== 200 && !(isVote && isRefusedVote(status));
}

function isRefusedVote(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status);
}

function signatureOf(body: string, key: KeyObject): Readonly<Record<string, string>> {
  return { [SIGNATURE_HEADER]: hexFromBytes(sign(null, Buffer.from(body), key)) };
}

/** Below the venue's address, which may have a path of its own. */
function addressOf(url: string, path: string, query: string): URL {
  const address = new URL(url);
  address.search = query;
  address.pathname = address.pathname.replace(/\/+$/, "") + path;
  return address;
}

/** Undefined for anything else, such as the error page of a proxy. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The code of a failed connection where there is one, such as ECONNREFUSED. */
function failureOf(error: unknown): string {
  if (error instanceof TimeLimitError) return "timeout";
  if (error instanceof BodyTooLargeError) return error.message;
  return connectionErrorCode(error) ?? (error instanceof Error ? error.name : "unknown");
}

function termsOf(info: BridgeInfo["chains"][number]): ChainTerms {
  const { chain, chainId, minDeposit } = info;
  const addressOf = (text: string): string => {
    const address = dialectOf(chain).configuredAddress(text);
    if (address === undefined) throw new VenueUnreachable(`${text} is not an address of ${chain}`);
    return address;
  };
  return {
    chain,
    chainId,
    vault: addressOf(info.vault),
    minDepositMicros: Math.round(minDeposit * 1e6),
    tokens: info.tokens.map(({ token, contract, decimals }) => ({
      token,
      contract: addressOf(contract),
      decimals,
    })),
  };
}

/** Rejects a page that does not advance, which would loop forever. */
function nextOf({ next }: DepositQueue, after: number, order: QueueOrder): number | null {
  if (next === null) return null;
  const at = Number(next);
  const isForward = order === "ascending" ? at > after : at > 0 && (after === 0 || at < after);
  if (!isForward) throw new VenueUnreachable("the venue's queue does not advance");
  return at;
}

interface WireVote {
  readonly text: string;
  readonly signature: string;
}

/** Splits votes into requests within the size limit. */
function batchesOf(votes: readonly WireVote[]): WireVote[][] {
  const batches: WireVote[][] = [];
  let open: WireVote[] = [];
  let bytes = 0;
  for (const entry of votes) {
    // Including the comma.
    const size = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (
      open.length >= MAX_VOTES_PER_REQUEST ||
      (open.length > 0 && bytes + size > MAX_BODY_BYTES)
    ) {
      batches.push(open);
      open = [];
      bytes = 0;
    }
    open.push(entry);
    bytes += size;
  }
  if (open.length > 0) batches.push(open);
  return batches;
}

function errorIn(status: number, answer: unknown): string {
  const code =
    typeof answer === "object" && answer !== null && "code" in answer
      ? String(answer.code)
      : "no code";
  return `the venue responded ${status}: ${code}`;
}
