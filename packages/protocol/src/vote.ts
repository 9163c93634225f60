/**
 * A vote: what one attestor says about one transaction (format 2; `vote-text.ts` has its text).
 *
 * It binds everything that it depends on: the venue by the hash of its Genesis, the chain id, the
 * vault and the contracts. A vote for one venue, vault or chain says nothing about another.
 */

import type { Chain, Token } from "./deposit.js";

/** `reorged` is said of credited deposits only; the others before a deposit is settled. */
export type VoteVerdict = "confirming" | "credit" | "reject" | "reorged";

export interface VoteCredit {
  readonly logIndex: number;
  readonly token: Token;
  /** The sender in the log, 40 lower-case hex digits, on every chain. */
  readonly address: string;
  readonly amountMicros: number;
}

/** The part of a vote on which attestors must agree, and its progress. */
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

/** Where deposits of a venue go on one chain: what every vote about that chain binds. */
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

/** Keeps a vote below 9 KB, so that a request of 64 KiB holds any of them. */
export const MAX_CREDITS_PER_VOTE = 100;

/** What two votes on the same deposit are compared by; engines and logs know more and less. */
export interface VoteOutcome {
  readonly verdict: VoteVerdict;
  readonly reason: string;
  /** Without a token in votes of format 1. */
  readonly credits: readonly (Omit<VoteCredit, "token"> & { readonly token?: string })[];
  /** Missing: 1. */
  readonly part?: number;
  readonly parts?: number;
}

/** Whether two votes say the same about the outcome; progress left out. */
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
