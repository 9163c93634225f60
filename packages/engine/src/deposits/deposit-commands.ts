/**
 * Deposits: registered once, voted on by attestors, credited at the quorum. Each log of a
 * transaction is credited to the sender that the log names, whoever registered the hash.
 */
import type { AttestDeposit, RegisterDeposit } from "../commands.js";
import { DEV_CREDIT_DELAY_MS } from "../config.js";
import { EVENT } from "../event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import {
  announceAccount,
  credit,
  fitsDeposits,
  liveSession,
} from "../sessions/session-commands.js";
import type { VenueState } from "../state/venue.js";
import type { AccountCredit, Deposit, Vote } from "./deposit-book.js";

export function registerDeposit(s: VenueState, command: RegisterDeposit): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  const isDev = s.config!.attestorKind === "dev";
  const key = depositKey(isDev ? session.account : 0, command.chain, command.txHash);
  const known = s.deposits.byKey.get(key);
  if (known !== undefined) {
    // Registering again answers the same deposit.
    s.events.emit(EVENT.DepositRegistered, known.id, known.registrant);
    return true;
  }
  const deposit: Deposit = {
    id: s.position,
    registrant: session.account,
    registeredAtMs: s.timeMs,
    chain: command.chain,
    txHash: command.txHash,
    token: command.token,
    status: "queued",
    confirmations: 0,
    required: 0,
    reason: "",
    credits: [],
    votes: new Map(),
  };
  s.deposits.add(key, deposit);
  if (isDev) s.deposits.devDue.push(s.timeMs + DEV_CREDIT_DELAY_MS, deposit.id);
  s.events.emit(EVENT.DepositRegistered, deposit.id, session.account);
  return true;
}

/** A space stands in no part; account 0 where the registrant does not matter. */
export function depositKey(account: number, chain: string, txHash: string): string {
  return `${account} ${chain} ${txHash}`;
}

/** Credits what the `dev` attestor owes by now. */
export function creditDevDeposits(s: VenueState): void {
  while (s.deposits.devDue.nextTime() <= s.timeMs) {
    const deposit = s.deposits.byId.get(s.deposits.devDue.pop())!;
    const amount = s.config!.devCreditMicros;
    settleDeposit(s, deposit, [{ account: deposit.registrant, amountMicros: amount, logIndex: 0 }]);
  }
}

export function attestDeposit(s: VenueState, command: AttestDeposit): boolean {
  const config = s.config!;
  if (config.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  if (!(command.attestor >= 0 && command.attestor < config.attestors)) {
    return refuse(s, REFUSAL.attestor_unknown);
  }
  const deposit = s.deposits.byId.get(command.depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  if (deposit.status === "credited" || deposit.status === "rejected") {
    return refuse(s, REFUSAL.deposit_settled);
  }
  if (!isWellFormed(command)) return refuse(s, REFUSAL.invalid_command);
  deposit.votes.set(command.attestor, {
    verdict: command.verdict,
    confirmations: command.confirmations,
    required: command.required,
    credits: command.credits,
    reason: command.reason,
  });
  reportProgress(s, deposit);
  if (command.verdict === "confirming" || agreeing(deposit, command) < config.attestorQuorum) {
    return true;
  }
  if (command.verdict === "reject") {
    deposit.status = "rejected";
    deposit.reason = command.reason;
    s.events.emit(EVENT.DepositSettled, deposit.id, 0);
    return true;
  }
  settleDeposit(
    s,
    deposit,
    command.credits.map((entry) => ({
      account: s.accountOf.get(entry.address) ?? announceAccount(s, entry.address),
      amountMicros: entry.amountMicros,
      logIndex: entry.logIndex,
    })),
  );
  return true;
}

function isWellFormed(command: AttestDeposit): boolean {
  const logs = new Set(command.credits.map((entry) => entry.logIndex));
  return (
    logs.size === command.credits.length &&
    (command.verdict !== "credit" || command.credits.length > 0) &&
    command.credits.every(
      (entry) =>
        Number.isSafeInteger(entry.amountMicros) &&
        entry.amountMicros > 0 &&
        /^[0-9a-f]{40}$/.test(entry.address),
    )
  );
}

/** Confirmations that a quorum has seen: the quorum-th highest of the attestors' counts. */
function reportProgress(s: VenueState, deposit: Deposit): void {
  const votes = [...deposit.votes.values()].sort((a, b) => b.confirmations - a.confirmations);
  const vote = votes[s.config!.attestorQuorum - 1];
  if (vote === undefined) return;
  deposit.status = "confirming";
  if (deposit.confirmations === vote.confirmations && deposit.required === vote.required) return;
  deposit.confirmations = vote.confirmations;
  deposit.required = vote.required;
  s.events.emit(EVENT.DepositProgressed, deposit.id, vote.confirmations, vote.required);
}

/** Attestors whose latest vote says exactly the same. */
function agreeing(deposit: Deposit, vote: Vote): number {
  const said = statementOf(vote);
  let count = 0;
  for (const other of deposit.votes.values()) if (statementOf(other) === said) count++;
  return count;
}

function statementOf(vote: Vote): string {
  const credits = [...vote.credits]
    .sort((a, b) => a.logIndex - b.logIndex)
    .map((entry) => `${entry.logIndex} ${entry.address} ${entry.amountMicros}`);
  return [vote.verdict, vote.verdict === "reject" ? vote.reason : "", ...credits].join("|");
}

/** Credits all of a deposit or, if that would pass the bound on deposits, rejects it. */
function settleDeposit(s: VenueState, deposit: Deposit, credits: readonly AccountCredit[]): void {
  let total = 0;
  for (const entry of credits) total += entry.amountMicros;
  if (!fitsDeposits(s, total)) {
    deposit.status = "rejected";
    deposit.reason = "deposit_limit";
    s.events.emit(EVENT.DepositSettled, deposit.id, 0);
    return;
  }
  deposit.status = "credited";
  deposit.credits = credits;
  for (const entry of credits) {
    credit(s, entry.account, entry.amountMicros);
    s.events.emit(
      EVENT.DepositCredited,
      deposit.id,
      entry.account,
      entry.amountMicros,
      entry.logIndex,
    );
  }
  s.events.emit(EVENT.DepositSettled, deposit.id, 1);
}
