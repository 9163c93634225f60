/**
 * What happens to a deposit once a quorum agrees: credits, a rejection, or the mark of a
 * reorganisation. Each log of a transaction is credited to the sender that the log names, regardless
 * of who registered the hash.
 */
import { DEV_CREDITS_PER_TICK } from "../config.js";
import { emit } from "../events/event-log.js";
import { announceAccount, credit, fitsDeposits } from "../sessions/session-commands.js";
import type { AccountCredit, AttestorVote, DepositRecord } from "../state/deposits.js";
import type { VenueState } from "../state/venue.js";

export function conclude(s: VenueState, deposit: DepositRecord, vote: AttestorVote): void {
  if (vote.verdict === "reorged") {
    // Attestors beyond the quorum report it, too; it counts once.
    if (deposit.reorged === "") s.deposits.countReorg(deposit, 1);
    deposit.reorged = vote.reason;
    s.deposits.note(deposit);
    emit.DepositReorged(s.events, { depositId: deposit.id });
    // Credited in part: the rest of a transaction that is gone is never credited.
    if (deposit.status !== "credited") finish(s, deposit);
    return;
  }
  if (vote.verdict === "reject") {
    reject(s, deposit, vote.reason);
    return;
  }
  const credits = vote.credits.map(({ address, amountMicros, logIndex, token = "" }) => ({
    account: s.addresses.get(address) ?? announceAccount(s, address),
    amountMicros,
    logIndex,
    token,
  }));
  settleDeposit(s, deposit, credits, vote.part, vote.parts);
}

/** Credits the deposits that the `dev` attestor owes by now, as many as a tick may. */
export function creditDevDeposits(s: VenueState): void {
  for (let left = DEV_CREDITS_PER_TICK; left > 0; left--) {
    if (s.deposits.devDue.nextTime() > s.timeMs) return;
    const deposit = s.deposits.byId.get(s.deposits.devDue.pop())!;
    const amountMicros = s.config!.devCreditMicros;
    const entry = { account: deposit.registrant, amountMicros, logIndex: 0, token: "" };
    settleDeposit(s, deposit, [entry], 1, 1);
  }
}

/**
 * Credits a deposit, or its next part; rejects it if that would exceed the bound on deposits. Parts
 * that were credited before stay credited, and a later registration continues after them.
 */
function settleDeposit(
  s: VenueState,
  deposit: DepositRecord,
  credits: readonly AccountCredit[],
  part: number,
  parts: number,
): void {
  const depositId = deposit.id;
  let total = 0;
  for (const entry of credits) total += entry.amountMicros;
  if (!fitsDeposits(s, total)) {
    reject(s, deposit, "deposit_limit");
    return;
  }
  deposit.credits = [...deposit.credits, ...credits];
  s.deposits.countCredits(deposit, credits);
  for (const { account, amountMicros, logIndex } of credits) {
    credit(s, account, amountMicros);
    emit.DepositCredited(s.events, { depositId, account, amountMicros, logIndex });
  }
  if (parts > 1) deposit.creditedParts = part;
  if (part < parts) emit.DepositPartCredited(s.events, { depositId, part, parts });
  else finish(s, deposit);
}

function reject(s: VenueState, deposit: DepositRecord, reason: string): void {
  deposit.status = "rejected";
  deposit.reason = reason;
  deposit.settledAtMs = s.timeMs;
  s.deposits.note(deposit);
  emit.DepositSettled(s.events, { depositId: deposit.id, credited: 0 });
}

function finish(s: VenueState, deposit: DepositRecord): void {
  deposit.status = "credited";
  deposit.settledAtMs = s.timeMs;
  s.deposits.note(deposit);
  emit.DepositSettled(s.events, { depositId: deposit.id, credited: 1 });
}
