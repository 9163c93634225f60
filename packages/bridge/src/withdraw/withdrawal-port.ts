/** An attestor's, and a relayer's, interface to the venue for withdrawals. */

import { type KeyObject, sign } from "node:crypto";
import type { Chain, OpenWithdrawal, SubmittedVote } from "@perpgate/protocol";
import { hexFromBytes, type WithdrawalVote, withdrawalVoteText } from "@perpgate/protocol/core";
import type { VenueTerms } from "../venue-port.js";

export interface OpenWithdrawalPage {
  readonly rows: readonly OpenWithdrawal[];
  /** The `after` of the next page. */
  readonly next: number | null;
}

export interface WithdrawalPort {
  terms(): Promise<VenueTerms>;
  /** A page of a chain's open withdrawals, oldest first; `after` 0 requests the first page. */
  openWithdrawals(chain: Chain, after: number): Promise<OpenWithdrawalPage>;
  /** Returns for each vote why it was refused, or null. */
  submitOnWithdrawals(votes: readonly SignedWithdrawalVote[]): Promise<readonly (string | null)[]>;
  /** Statements of what vaults hold, each a text and its signature. */
  submitHoldings(statements: readonly SubmittedVote[]): Promise<readonly (string | null)[]>;
}

export interface SignedWithdrawalVote {
  readonly vote: WithdrawalVote;
  /** Ed25519 over the vote's text, 128 lower-case hex digits. */
  readonly signature: string;
}

export function signWithdrawalVote(
  vote: WithdrawalVote,
  privateKey: KeyObject,
): SignedWithdrawalVote {
  const text = Buffer.from(withdrawalVoteText(vote), "latin1");
  return { vote, signature: hexFromBytes(sign(null, text, privateKey)) };
}

/** Oldest first. */
export async function allOpenWithdrawals(
  port: Pick<WithdrawalPort, "openWithdrawals">,
  chain: Chain,
): Promise<readonly OpenWithdrawal[]> {
  const all: OpenWithdrawal[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page: OpenWithdrawalPage = await port.openWithdrawals(chain, after);
    all.push(...page.rows);
    after = page.next;
  }
  return all;
}
