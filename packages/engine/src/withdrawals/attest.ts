/**
 * What attestors say about withdrawals. A quorum of signatures makes one `attested`, a quorum that has seen it
 * on its chain `pending`; both are for show. A quorum for the same payment ends it, and so does a quorum for
 * non-payment after the deadline, which alone credits the account again.
 */
import type { AttestWithdrawal, Configure } from "../commands.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { VenueState } from "../state/venue.js";
import {
  OPEN_WITHDRAWAL_STATUSES,
  type OpenStatus,
  type PaymentVote,
  type WithdrawalState,
} from "../state/withdrawals.js";

/** Of attestors while a withdrawal is open. */
const MIN_QUORUM = 2;

/** Checks, and moves the money of one that has expired; `concludeAttestation` follows. */
export function attestWithdrawal(s: VenueState, command: AttestWithdrawal): boolean {
  const { attestor, withdrawalId, verdict, votedAtMs } = command;
  const config = s.config!;
  if (config.attestorKind === "dev" || !(attestor >= 0 && attestor < config.attestors)) {
    return refuse(s, REFUSAL.attestor_unknown);
  }
  const withdrawal = s.withdrawals.byId.get(withdrawalId);
  if (withdrawal === undefined) return refuse(s, REFUSAL.withdrawal_unknown);
  if (!isWellFormed(command)) return refuse(s, REFUSAL.invalid_command);
  if (verdict === "unpaid" && s.timeMs <= withdrawal.deadlineMs) {
    return refuse(s, REFUSAL.withdrawal_not_due, withdrawal.deadlineMs);
  }
  if ((verdict === "paid" || verdict === "unpaid") && isPaused(s, withdrawal)) {
    return refuse(s, REFUSAL.withdrawals_paused);
  }
  const last = withdrawal.sightings.get(attestor);
  if (verdict !== "signed" && last !== undefined && votedAtMs < last.votedAtMs) {
    return refuse(s, REFUSAL.vote_outdated, last.votedAtMs);
  }
  if (decisionAfter(s, withdrawal, command)?.verdict === "unpaid") creditAgain(s, withdrawal);
  return true;
}

function isWellFormed(command: AttestWithdrawal): boolean {
  const { verdict, votedAtMs, txHash, vaultSignature } = command;
  const names = verdict === "pending" || verdict === "paid" ? /^[0-9a-f]{64}$/ : /^$/;
  const signs = verdict === "signed" ? /^[0-9a-f]{130}$/ : /^$/;
  return (
    Number.isSafeInteger(votedAtMs) &&
    votedAtMs >= 0 &&
    names.test(txHash) &&
    signs.test(vaultSignature)
  );
}

/** A pause stops what ends a withdrawal. */
function isPaused(
  { deposits: { paused } }: VenueState,
  { chain, token }: WithdrawalState,
): boolean {
  return paused.has(chain) || paused.has(token);
}

function creditAgain(s: VenueState, { account, amountMicros, feeMicros }: WithdrawalState): void {
  s.addWallet(account, amountMicros + feeMicros);
  s.totals.fees -= feeMicros;
  s.totals.deposits += amountMicros;
}

/** Records an accepted AttestWithdrawal; reports what it has changed in the last event. */
export function concludeAttestation(s: VenueState, command: AttestWithdrawal): void {
  const withdrawal = s.withdrawals.byId.get(command.withdrawalId)!;
  const decision = decisionAfter(s, withdrawal, command);
  if (command.verdict === "signed") withdrawal.signers.add(command.attestor);
  else withdrawal.sightings.set(command.attestor, sightingOf(command, command.verdict));
  if (decision === undefined) progress(s, withdrawal);
  else end(s, withdrawal, decision);
}

function sightingOf(
  { votedAtMs, txHash }: AttestWithdrawal,
  verdict: PaymentVote["verdict"],
): PaymentVote {
  return { verdict, votedAtMs, txHash };
}

/** What a quorum says once the vote counts. The money moves before the vote is recorded, by this alone. */
function decisionAfter(
  s: VenueState,
  withdrawal: WithdrawalState,
  command: AttestWithdrawal,
): PaymentVote | undefined {
  const sightings = new Map(withdrawal.sightings);
  const { attestor, verdict } = command;
  if (verdict !== "signed") sightings.set(attestor, sightingOf(command, verdict));
  return decisionOn(s, withdrawal, sightings);
}

/** What a quorum says has become of it; undefined in a pause, and while two quorums state different things. */
function decisionOn(
  s: VenueState,
  withdrawal: WithdrawalState,
  sightings: WithdrawalState["sightings"],
): PaymentVote | undefined {
  if (isPaused(s, withdrawal)) return undefined;
  const decided: PaymentVote[] = [];
  for (const sighting of sightings.values()) {
    if (sighting.verdict === "pending") continue;
    let count = 0;
    for (const other of sightings.values()) if (isSame(sighting, other)) count++;
    if (count >= s.config!.attestorQuorum) decided.push(sighting);
  }
  const [first] = decided;
  if (first === undefined) return undefined;
  return decided.every((each) => isSame(first, each)) ? first : undefined;
}

function isSame(a: PaymentVote, b: PaymentVote): boolean {
  return a.verdict === b.verdict && a.txHash === b.txHash;
}

function end(s: VenueState, withdrawal: WithdrawalState, { verdict }: PaymentVote): void {
  const { id: withdrawalId, account, amountMicros, feeMicros } = withdrawal;
  s.withdrawals.remove(withdrawal);
  if (verdict === "paid") {
    emit.WithdrawalPaid(s.events, { withdrawalId, account, amountMicros });
    return;
  }
  s.withdrawals.countSent(withdrawal, -amountMicros);
  const walletMicros = s.wallet(account);
  const money = { amountMicros, feeMicros, walletMicros };
  emit.WithdrawalExpired(s.events, { withdrawalId, account, ...money });
}

function progress(s: VenueState, withdrawal: WithdrawalState): void {
  const status = statusOf(withdrawal, s.config!.attestorQuorum);
  if (status === withdrawal.status) return;
  withdrawal.status = status;
  const { id: withdrawalId, account } = withdrawal;
  const code = OPEN_WITHDRAWAL_STATUSES.indexOf(status);
  emit.WithdrawalProgressed(s.events, { withdrawalId, account, status: code });
}

/** One that is paid was pending; whether it was paid is for a quorum to say. */
function statusOf({ signers, sightings }: WithdrawalState, quorum: number): OpenStatus {
  let seen = 0;
  for (const { verdict } of sightings.values()) if (verdict !== "unpaid") seen++;
  if (seen >= quorum) return "pending";
  return signers.size >= quorum ? "attested" : "queued";
}

/**
 * Whether open withdrawals would be judged by another vault than the one they are signed for, or by one
 * attestor alone. What a vault that is not read any more has paid would be credited again.
 */
export function strandsWithdrawals(
  { withdrawals }: VenueState,
  { config, movedChains = [] }: Pick<Configure, "config" | "movedChains">,
): boolean {
  const hasOpen = withdrawals.byId.size > 0;
  if (config.attestorQuorum < MIN_QUORUM) return hasOpen;
  return movedChains.some((chain) => withdrawals.hasOpen(chain));
}

/**
 * Counts all votes again, without those of attestors that are gone or whose number belongs to another attestor
 * now: attestors do not repeat their votes. Runs after the check of the invariants.
 */
export function recountWithdrawals(
  s: VenueState,
  { replacedAttestors = [] }: Pick<Configure, "replacedAttestors">,
): void {
  const { attestors } = s.config!;
  const replaced = new Set(replacedAttestors);
  const isGone = (attestor: number): boolean => attestor >= attestors || replaced.has(attestor);
  for (const withdrawal of s.withdrawals.sorted()) {
    const { signers, sightings } = withdrawal;
    for (const attestor of [...signers]) if (isGone(attestor)) signers.delete(attestor);
    for (const attestor of [...sightings.keys()]) {
      if (isGone(attestor)) sightings.delete(attestor);
    }
    const decision = decisionOn(s, withdrawal, sightings);
    if (decision === undefined) {
      progress(s, withdrawal);
      continue;
    }
    if (decision.verdict === "unpaid") creditAgain(s, withdrawal);
    end(s, withdrawal, decision);
  }
}
