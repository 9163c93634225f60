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
    if (mayReopen(known, command.token)) reopen(s, known, session.account, command.token);
    s.events.emit(EVENT.DepositRegistered, known.id, known.registrant);
    return true;
  }
  const deposit: Deposit = {
    id: s.seq,
    registrant: session.account,
    registeredAtMs: s.timeMs,
    settledAtMs: 0,
    creditedParts: 0,
    reorged: "",
    reorgSettledAtMs: 0,
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
  if (isDev) awaitDevCredit(s, deposit);
  s.events.emit(EVENT.DepositRegistered, deposit.id, session.account);
  return true;
}

/**
 * Rejections that a stranger can cause, by naming the wrong token for somebody's transaction, or
 * that time heals. Nothing was credited, so being credited once still means once.
 */
const REOPENABLE: ReadonlySet<string> = new Set([
  "transaction_not_found",
  "token_not_configured",
  "deposit_limit",
]);

function mayReopen(deposit: Deposit, token: string): boolean {
  if (deposit.status !== "rejected") return false;
  if (deposit.reason === "other_token") return deposit.token !== token;
  return REOPENABLE.has(deposit.reason);
}

export function reopen(s: VenueState, deposit: Deposit, registrant: number, token: string): void {
  deposit.registrant = registrant;
  deposit.registeredAtMs = s.timeMs;
  deposit.settledAtMs = 0;
  deposit.token = token;
  deposit.status = "queued";
  deposit.reason = "";
  deposit.confirmations = 0;
  deposit.required = 0;
  deposit.votes.clear();
  if (s.config!.attestorKind === "dev") awaitDevCredit(s, deposit);
}

/** The `dev` attestor credits it so long after its registration, be it the first or not. */
export function awaitDevCredit(s: VenueState, deposit: Deposit): void {
  s.deposits.devDue.push(deposit.registeredAtMs + DEV_CREDIT_DELAY_MS, deposit.id);
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
    const entry = { account: deposit.registrant, amountMicros: amount, logIndex: 0, token: "" };
    settleDeposit(s, deposit, [entry], 1, 1);
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
  if (!isOpenTo(deposit, command)) return refuse(s, REFUSAL.deposit_settled);
  if (!isWellFormed(command)) return refuse(s, REFUSAL.invalid_command);
  if (isPaused(s, deposit, command)) return refuse(s, REFUSAL.deposits_paused);
  const last = deposit.votes.get(command.attestor);
  if (last !== undefined && command.votedAtMs < last.votedAtMs) {
    return refuse(s, REFUSAL.vote_outdated, last.votedAtMs);
  }
  const { verdict, votedAtMs, confirmations, required, credits, reason } = command;
  const { part = 1, parts = 1 } = command;
  const vote = { verdict, votedAtMs, confirmations, required, credits, reason, part, parts };
  deposit.votes.set(command.attestor, vote);
  if (verdict !== "reorged") reportProgress(s, deposit);
  if (verdict === "confirming" || agreeing(deposit, vote) < config.attestorQuorum) return true;
  conclude(s, deposit, vote);
  return true;
}

/** Parts are credited in order, each once; what is credited in part is never rejected. */
function isOpenTo(deposit: Deposit, { verdict, part = 1 }: AttestDeposit): boolean {
  if (verdict === "reorged") return deposit.credits.length > 0;
  if (deposit.status === "credited" || deposit.status === "rejected") return false;
  if (verdict === "credit") return part === deposit.creditedParts + 1;
  return verdict === "confirming" || deposit.creditedParts === 0;
}

/** A pause stops what settles a deposit; what attestors observe is still recorded. */
export function isPaused(
  { deposits: { paused } }: VenueState,
  deposit: Deposit,
  { verdict, credits }: Pick<Vote, "verdict" | "credits">,
): boolean {
  if (paused.size === 0 || verdict === "confirming" || verdict === "reorged") return false;
  if (paused.has(deposit.chain)) return true;
  if (verdict === "reject") return paused.has(deposit.token);
  return credits.some(({ token = deposit.token }) => paused.has(token));
}

/** What a quorum has said. */
export function conclude(s: VenueState, deposit: Deposit, vote: Vote): void {
  if (vote.verdict === "reorged") {
    deposit.reorged = vote.reason;
    s.events.emit(EVENT.DepositReorged, deposit.id);
    // Credited in part: the rest of a transaction that is gone is never credited.
    if (deposit.status !== "credited") finish(s, deposit);
    return;
  }
  if (vote.verdict === "reject") {
    reject(s, deposit, vote.reason);
    return;
  }
  settleDeposit(
    s,
    deposit,
    vote.credits.map((entry) => ({
      account: s.accountOf.get(entry.address) ?? announceAccount(s, entry.address),
      amountMicros: entry.amountMicros,
      logIndex: entry.logIndex,
      token: entry.token ?? "",
    })),
    vote.part,
    vote.parts,
  );
}

function reject(s: VenueState, deposit: Deposit, reason: string): void {
  deposit.status = "rejected";
  deposit.reason = reason;
  deposit.settledAtMs = s.timeMs;
  s.events.emit(EVENT.DepositSettled, deposit.id, 0);
}

const MAX_REASON_LENGTH = 64;
/** Far more than a block's gas allows, at a hundred logs each. */
const MAX_PARTS = 1_000;

function isWellFormed(command: AttestDeposit): boolean {
  const logs = new Set(command.credits.map((entry) => entry.logIndex));
  return (
    isPart(command) &&
    logs.size === command.credits.length &&
    [command.votedAtMs, command.confirmations, command.required].every(isCount) &&
    command.reason.length <= MAX_REASON_LENGTH &&
    (command.verdict !== "credit" || command.credits.length > 0) &&
    command.credits.every(
      (entry) =>
        Number.isSafeInteger(entry.amountMicros) &&
        entry.amountMicros > 0 &&
        /^[0-9a-f]{40}$/.test(entry.address) &&
        (entry.token === undefined || /^[A-Z0-9]{1,16}$/.test(entry.token)),
    )
  );
}

function isPart({ verdict, part = 1, parts = 1 }: AttestDeposit): boolean {
  if (verdict !== "credit") return part === 1 && parts === 1;
  return isCount(part) && isCount(parts) && part >= 1 && part <= parts && parts <= MAX_PARTS;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * Confirmations that a quorum has seen: the quorum-th highest of the attestors' counts. Equal counts
 * go by attestor: who voted first is not kept, and votes can differ in what they require.
 */
export function reportProgress(s: VenueState, deposit: Deposit): void {
  const ranked = [...deposit.votes].sort(
    ([a, vote], [b, other]) => other.confirmations - vote.confirmations || a - b,
  );
  const vote = ranked[s.config!.attestorQuorum - 1]?.[1];
  if (vote === undefined) return;
  deposit.status = "confirming";
  if (deposit.confirmations === vote.confirmations && deposit.required === vote.required) return;
  deposit.confirmations = vote.confirmations;
  deposit.required = vote.required;
  s.events.emit(EVENT.DepositProgressed, deposit.id, vote.confirmations, vote.required);
}

/** Attestors whose latest vote says exactly the same; votes of others are not kept. */
export function agreeing(deposit: Deposit, vote: Vote): number {
  const said = statementOf(vote);
  let count = 0;
  for (const other of deposit.votes.values()) if (statementOf(other) === said) count++;
  return count;
}

export function statementOf(vote: Vote): string {
  const credits = [...vote.credits]
    .sort((a, b) => a.logIndex - b.logIndex)
    .map(
      ({ logIndex, address, amountMicros, token = "" }) =>
        `${logIndex} ${address} ${amountMicros} ${token}`,
    );
  const { verdict, reason, part, parts } = vote;
  return [verdict, verdict === "credit" ? `${part}/${parts}` : reason, ...credits].join("|");
}

/**
 * Credits a deposit, or its next part; if that would pass the bound on deposits, rejects it. The
 * parts credited before stay credited, and a later registration goes on behind them.
 */
function settleDeposit(
  s: VenueState,
  deposit: Deposit,
  credits: readonly AccountCredit[],
  part: number,
  parts: number,
): void {
  let total = 0;
  for (const entry of credits) total += entry.amountMicros;
  if (!fitsDeposits(s, total)) {
    reject(s, deposit, "deposit_limit");
    return;
  }
  deposit.credits = [...deposit.credits, ...credits];
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
  if (parts > 1) deposit.creditedParts = part;
  if (part < parts) {
    s.events.emit(EVENT.DepositPartCredited, deposit.id, part, parts);
    return;
  }
  finish(s, deposit);
}

function finish(s: VenueState, deposit: Deposit): void {
  deposit.status = "credited";
  deposit.settledAtMs = s.timeMs;
  s.events.emit(EVENT.DepositSettled, deposit.id, 1);
}
