/** Withdrawals of an account, open and ended, from the history. */
import type { VenueState } from "@perpgate/engine/reading";
import type { AttestedWithdrawal, BridgeInfo, Chain, Withdrawal } from "@perpgate/protocol";
import { fromMicros, parseWithdrawalVote, WITHDRAWAL_STATUSES } from "@perpgate/protocol/core";
import { WITHDRAWAL_VOTE } from "../history/withdrawal-projection.js";
import type { ShownWithdrawal } from "../history/withdrawal-row.js";
import { chainOf, shownVote, tokenNamed } from "./deposit-view.js";
import { pageOf, type RowsQuery } from "./row-query.js";
import { stateOf, type VenueSource } from "./venue-source.js";

const MAX_LISTED = 1_000;

export function withdrawalsView(
  { history }: VenueSource,
  account: number,
  query: RowsQuery = {},
): Withdrawal[] {
  const page = history.withdrawals(account, pageOf(query, MAX_LISTED));
  return page.map(({ id, row }) => withdrawalOf(id, row));
}

export function withdrawalRulesView({ config, rules }: VenueState): BridgeInfo["withdrawals"] {
  const terms = rules.hasWithdrawals ? config?.withdrawals : undefined;
  if (terms === undefined) return null;
  return {
    minWithdrawal: fromMicros(terms.minMicros),
    fee: fromMicros(terms.feeMicros),
    accountPerDay: fromMicros(terms.accountDayMicros),
    venuePerHour: fromMicros(terms.venueHourMicros),
    venuePerDay: fromMicros(terms.venueDayMicros),
    lifeSeconds: terms.lifeMs / 1_000,
    chains: terms.chains.map(({ chain, tokens }) => ({ chain, tokens: [...tokens] })),
  };
}

/** With its votes; undefined for another account's. */
export function withdrawalView(
  source: VenueSource,
  account: number,
  id: number,
): AttestedWithdrawal | undefined {
  const row = source.history.withdrawal(account, id);
  return row === undefined ? undefined : { ...withdrawalOf(id, row), votes: votesOn(source, id) };
}

export function requestedWithdrawalView(
  { history }: VenueSource,
  account: number,
  id: number,
): { readonly withdrawal: Withdrawal; readonly digest: Buffer } | undefined {
  const row = history.withdrawal(account, id);
  if (row === undefined) return undefined;
  return { withdrawal: withdrawalOf(id, row), digest: Buffer.from(row.digest, "hex") };
}

export function withdrawalOf(id: number, row: ShownWithdrawal): Withdrawal {
  return {
    withdrawalId: String(id),
    chain: chainOf(row.chain),
    token: tokenNamed(row.token),
    amount: fromMicros(row.amountMicros),
    fee: fromMicros(row.feeMicros),
    status: WITHDRAWAL_STATUSES[row.status] ?? "queued",
    txHash: row.txHash === "" ? null : `0x${row.txHash}`,
    deadline: row.deadlineMs,
    nonce: row.nonce,
    requestedAt: row.requestedAtMs,
    endedAt: row.endedAtMs === 0 ? null : row.endedAtMs,
  };
}

const OPEN_PAGE = 32;

/** A page of a chain's open withdrawals, oldest first, without their proofs. */
export function openWithdrawalsView(source: VenueSource, chain: Chain, after: number) {
  const { withdrawals, addresses } = stateOf(source);
  const rest = withdrawals.sorted().filter((each) => each.chain === chain && each.id > after);
  const page = rest.slice(0, OPEN_PAGE);
  return {
    rows: page.map(({ id, account, token, amountMicros, status, deadlineMs, requestedAtMs }) => ({
      withdrawalId: String(id),
      chain,
      token: tokenNamed(token),
      amount: fromMicros(amountMicros),
      account: `0x${addresses.at(account) ?? ""}`,
      status,
      deadline: deadlineMs,
      requestedAt: requestedAtMs,
      votes: votesOn(source, id),
    })),
    next: page.length === rest.length ? null : (page.at(-1)?.id ?? null),
  };
}

/** Each attestor's signature and latest sighting. */
function votesOn({ history, listing }: VenueSource, id: number): AttestedWithdrawal["votes"] {
  const sets = listing.attestorHistory?.entries ?? [];
  const attestors = Math.max(0, ...sets.map(({ members }) => members.length));
  return Array.from({ length: attestors }, (_, attestor) => attestor).flatMap((attestor) =>
    [WITHDRAWAL_VOTE.SIGNED, WITHDRAWAL_VOTE.SIGHTING].flatMap((place) => {
      const row = history.withdrawalVote(id, attestor, place);
      return row === undefined ? [] : [shownVote(attestor, row, parseWithdrawalVote)];
    }),
  );
}
