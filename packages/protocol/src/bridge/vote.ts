/**
 * A vote: one attestor's verdict on one transaction (format 2; its text is in `vote-text.ts`).
 *
 * It binds everything that it depends on: the venue by the hash of its Genesis, the chain id, the
 * vault and the token contracts. A vote for one venue, vault or chain is not valid for another.
 */

import type { VERDICTS } from "../markets/wire-names.js";
import type { Chain, Token } from "./deposit.js";

/** `reorged` applies to credited deposits; the others apply before a deposit is settled. */
export type VoteVerdict = (typeof VERDICTS)[number];

export interface VoteCredit {
  readonly logIndex: number;
  readonly token: Token;
  /** The sender in the log, 40 lower-case hex digits, on every chain. */
  readonly address: string;
  readonly amountMicros: number;
}

/** The verdict on which attestors must agree, and its confirmations so far. */
export interface VoteStatement {
  readonly verdict: VoteVerdict;
  /** Never more than `required`. */
  readonly confirmations: number;
  readonly required: number;
  /** For `credit`: matching logs, ascending, at most `MAX_CREDITS_PER_VOTE`. */
  readonly credits: readonly VoteCredit[];
  /** For `reject` and `reorged`: why, a snake_case word; otherwise empty. */
  readonly reason: string;
  /** For `credit`: which part of the transaction's logs, from 1, of how many; otherwise 1 of 1. */
  readonly part: number;
  readonly parts: number;
}

export interface VoteBlock {
  readonly number: number;
  /** 64 lower-case hex digits. */
  readonly hash: string;
}

export interface VoteToken {
  readonly token: Token;
  /** 40 lower-case hex digits. */
  readonly contract: string;
}

/** Where deposits of a venue go on one chain; bound by every vote about that chain. */
export interface VoteScope {
  /** The venue's id: SHA-256 of the record that holds its Genesis, 64 lower-case hex digits. */
  readonly venue: string;
  readonly chain: Chain;
  readonly chainId: number;
  /** 40 lower-case hex digits. */
  readonly vault: string;
  /** The tokens whose transfers count: USDC before USDT, at least one. */
  readonly tokens: readonly VoteToken[];
}

export interface Vote extends VoteScope, VoteStatement {
  readonly attestor: number;
  readonly depositId: number;
  /** 64 lower-case hex digits. */
  readonly txHash: string;
  /** The block in which the transaction was seen; null if it was seen in none. */
  readonly block: VoteBlock | null;
  /** Unix milliseconds by the attestor's clock: a later vote replaces an earlier one. */
  readonly votedAtMs: number;
}

/** Keeps every vote below 9 KB, so that each fits a request of 64 KiB. */
export const MAX_CREDITS_PER_VOTE = 100;

/** The fields by which two votes on the same deposit are compared. */
export interface VoteOutcome {
  readonly verdict: VoteVerdict;
  readonly reason: string;
  /** Without a token: that of the registration. */
  readonly credits: readonly (Omit<VoteCredit, "token"> & { readonly token?: string })[];
  /** Defaults to 1. */
  readonly part?: number;
  readonly parts?: number;
}

/** Whether two votes have the same outcome; confirmations are not compared. */
export function isSameOutcome(a: VoteOutcome, b: VoteOutcome): boolean {
  return (
    a.verdict === b.verdict &&
    a.reason === b.reason &&
    (a.part ?? 1) === (b.part ?? 1) &&
    (a.parts ?? 1) === (b.parts ?? 1) &&
    a.credits.length === b.credits.length &&
    a.credits.every((credit, i) => {
      const other = b.credits[i];
      return (
        other !== undefined &&
        credit.logIndex === other.logIndex &&
        credit.token === other.token &&
        credit.address === other.address &&
        credit.amountMicros === other.amountMicros
      );
    })
  );
}

/** Whether a vote is about the same venue, chain, vault and contracts. */
export function isSameScope(a: VoteScope, b: VoteScope): boolean {
  return scopeText(a) === scopeText(b);
}

function scopeText({ venue, chain, chainId, vault, tokens }: VoteScope): string {
  const contracts = tokens.map(({ token, contract }) => `${token} ${contract}`);
  return [venue, chain, chainId, vault, ...contracts].join("|");
}
