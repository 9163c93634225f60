/**
 * Deposits of an account: those it registered and those that credited it. The engine keeps every
 * deposit that credited something; the history keeps which accounts watch one, and the signed votes.
 */
import { type DepositRecord, depositKey } from "@perpgate/engine/reading";
import type { AttestedDeposit, Chain, Deposit, DepositVote, Token } from "@perpgate/protocol";
import { CHAINS, fromMicros, hexFromBytes, parseVote, TOKENS } from "@perpgate/protocol/core";
import type { VotePlace, VoteRow } from "../history/deposit-projection.js";
import { type DepositState, depositOfWords } from "../history/deposit-row.js";
import type { FilteredRows } from "../history/filtered-rows.js";
import type { RowWords } from "../history/rows.js";
import { pageOf, type RowsQuery } from "./row-query.js";
import { stateOf, type VenueSource } from "./venue-source.js";

const MAX_LISTED = 1_000;

export function depositsView(
  source: VenueSource,
  account: number,
  query: RowsQuery = {},
): FilteredRows<Deposit> {
  const { byId } = stateOf(source).deposits;
  return source.history.deposits(account, pageOf(query, MAX_LISTED), (id) => {
    const deposit = byId.get(id);
    return deposit === undefined ? undefined : depositOf(source, deposit, deposit);
  });
}

/** With its votes; undefined unless the account watches it. */
export function depositView(
  source: VenueSource,
  account: number,
  id: number,
): AttestedDeposit | undefined {
  const deposit = stateOf(source).deposits.byId.get(id);
  if (deposit === undefined || !source.history.isDepositOf(account, id)) return undefined;
  return { ...depositOf(source, deposit, deposit), votes: votesOn(source, deposit) };
}

/** The deposit with that hash, whichever account registered it. */
export function registeredDepositView(
  source: VenueSource,
  account: number,
  chain: Chain,
  txHash: string,
): Deposit | undefined {
  const { deposits, config } = stateOf(source);
  const owner = config?.attestorKind === "dev" ? account : 0;
  const deposit = deposits.byKey.get(depositKey(owner, chain, txHash));
  return deposit === undefined ? undefined : depositOf(source, deposit, deposit);
}

/** A deposit with the earlier state of a row; undefined if it was forgotten. */
export function depositAsOf(source: VenueSource, id: number, row: RowWords): Deposit | undefined {
  const deposit = stateOf(source).deposits.byId.get(id);
  if (deposit === undefined) return undefined;
  return depositOf(source, deposit, depositOfWords(row, deposit.credits));
}

function depositOf(source: VenueSource, deposit: DepositRecord, state: DepositState): Deposit {
  const { addresses } = stateOf(source);
  const isOpen = state.status === "queued" || state.status === "confirming";
  return {
    depositId: String(deposit.id),
    chain: chainOf(deposit.chain),
    txHash: `0x${deposit.txHash}`,
    token: tokenNamed(state.token),
    status: state.status,
    confirmations: state.confirmations,
    required: state.required,
    credits: state.credits.map((credit) => ({
      account: `0x${addresses.at(credit.account) ?? ""}`,
      token: tokenNamed(credit.token === "" ? state.token : credit.token),
      amount: fromMicros(credit.amountMicros),
      logIndex: credit.logIndex,
    })),
    reason: state.reason === "" ? null : state.reason,
    reorged: state.reorged === "" ? null : state.reorged,
    reorgSettled: state.reorgSettledAtMs !== 0,
    registeredAt: deposit.registeredAtMs,
    // An earlier state of a deposit that is settled now was open.
    settledAt: isOpen || deposit.settledAtMs === 0 ? null : deposit.settledAtMs,
  };
}

/**
 * Votes on the current registration, and on parts that were credited: these also where the deposit was
 * registered again, or their attestor was replaced, since.
 */
function votesOn({ history, listing }: VenueSource, deposit: DepositRecord): DepositVote[] {
  const { id, votes, creditedParts, registeredAtMs } = deposit;
  const sets = listing.attestorHistory?.entries ?? [];
  const attestors = Math.max(0, ...sets.map(({ members }) => members.length));
  const parts = Math.max(1, creditedParts, ...[...votes.values()].map(({ part }) => part));
  const places: VotePlace[] = [...numbers(1, parts), "reorged"];
  return numbers(0, attestors - 1).flatMap((attestor) =>
    places.flatMap((place) => {
      const row = history.vote(id, attestor, place);
      if (row === undefined) return [];
      const isOfCredit = place !== "reorged" && place <= creditedParts;
      const isCurrent = votes.has(attestor) && row.registeredAtMs === registeredAtMs;
      return isOfCredit || isCurrent ? [shownVote(attestor, row, parseVote)] : [];
    }),
  );
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

/** A vote as it is shown: its signed text says what it means. */
export function shownVote<Verdict>(
  attestor: number,
  { publicKey, signature, signed }: VoteRow,
  parse: (text: string) => { readonly verdict: Verdict; readonly votedAtMs: number } | undefined,
) {
  const text = signed.toString("latin1");
  const vote = parse(text);
  if (vote === undefined) throw new Error("the history contains a vote that cannot be parsed");
  return {
    attestor,
    publicKey: hexFromBytes(publicKey),
    verdict: vote.verdict,
    votedAt: vote.votedAtMs,
    text,
    signature: hexFromBytes(signature),
  };
}

export function chainOf(name: string): Chain {
  return known(CHAINS, name);
}

export function tokenNamed(name: string): Token {
  return known(TOKENS, name);
}

/** The gateway accepts only these; a log with another was written by a newer release. */
function known<T extends string>(names: readonly T[], name: string): T {
  const found = names.find((candidate) => candidate === name);
  if (found === undefined)
    throw new RangeError(`a deposit in the log has the unknown chain or token "${name}"`);
  return found;
}
