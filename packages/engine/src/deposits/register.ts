/** Registering deposits, and the operator's commands: pause, rejudge, settle a reorganisation. */
import type {
  PauseDeposits,
  RegisterDeposit,
  RejudgeDeposit,
  SettleReorgedDeposit,
} from "../commands.js";
import { FORGOTTEN_DEPOSITS_PER_TICK, UNSEEN_DEPOSITS_PER_ACCOUNT } from "../config.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { liveSession, refuse } from "../refuse.js";
import { type DepositRecord, depositKey } from "../state/deposits.js";
import type { VenueState } from "../state/venue.js";

export function applyRegisterDeposit(s: VenueState, command: RegisterDeposit): boolean {
  const session = liveSession(s, command.session);
  if (session === undefined) return false;
  const { account } = session;
  const isDev = s.config!.attestorKind === "dev";
  const key = depositKey(isDev ? account : 0, command.chain, command.txHash);
  const known = s.deposits.byKey.get(key);
  const opens = known === undefined || mayReopen(known, command.token);
  // What was credited in part has been seen on its chain.
  const wasSeen = known !== undefined && known.credits.length > 0;
  if (opens && !wasSeen && !isDev && s.deposits.unseen(account) >= UNSEEN_DEPOSITS_PER_ACCOUNT) {
    return refuse(s, REFUSAL.too_many_unseen_deposits, UNSEEN_DEPOSITS_PER_ACCOUNT);
  }
  if (known !== undefined) {
    // Registering again reports the same deposit.
    if (opens) reopen(s, known, account, command.token);
    emit.DepositRegistered(s.events, { depositId: known.id, account: known.registrant });
    return true;
  }
  const deposit: DepositRecord = {
    id: s.seq,
    registrant: account,
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
  s.deposits.note(deposit);
  if (isDev) s.deposits.awaitDevCredit(deposit);
  emit.DepositRegistered(s.events, { depositId: deposit.id, account });
  return true;
}

/**
 * Rejections that another account can cause, by naming the wrong token for a transaction, or that
 * are temporary. Nothing was credited, so reopening cannot credit a transaction twice.
 */
const REOPENABLE: ReadonlySet<string> = new Set([
  "transaction_not_found",
  "token_not_configured",
  "deposit_limit",
]);

function mayReopen(deposit: DepositRecord, token: string): boolean {
  if (deposit.status !== "rejected") return false;
  if (deposit.reason === "other_token") return deposit.token !== token;
  return REOPENABLE.has(deposit.reason);
}

/** Queues a deposit without its votes, as if it were registered now: it is not forgotten for a day. */
export function reopen(
  s: VenueState,
  deposit: DepositRecord,
  registrant: number,
  token: string,
): void {
  deposit.registrant = registrant;
  deposit.registeredAtMs = s.timeMs;
  deposit.settledAtMs = 0;
  deposit.token = token;
  deposit.status = "queued";
  deposit.reason = "";
  deposit.confirmations = 0;
  deposit.required = 0;
  deposit.votes.clear();
  s.deposits.note(deposit);
  if (s.config!.attestorKind === "dev") s.deposits.awaitDevCredit(deposit);
}

/**
 * Forgets hashes that no attestor has seen within a day, and rejections after a week. They cost
 * nothing, so they must not stay for ever; nothing was credited, so they may be registered again.
 */
export function forgetDeposits(s: VenueState): void {
  const { deposits } = s;
  const isDev = s.config!.attestorKind === "dev";
  for (let left = FORGOTTEN_DEPOSITS_PER_TICK; left > 0; left--) {
    if (deposits.forgettable.nextTime() > s.timeMs) return;
    const deposit = deposits.byId.get(deposits.forgettable.pop())!;
    const { id: depositId, registrant, chain, txHash } = deposit;
    deposits.forget(depositKey(isDev ? registrant : 0, chain, txHash), deposit);
    emit.DepositForgotten(s.events, { depositId });
  }
}

/** Names of chains and tokens; any other text could never match a deposit. */
const SCOPE = /^[A-Za-z0-9]{1,16}$/;

export function pauseDeposits(s: VenueState, { scope, isPaused }: PauseDeposits): boolean {
  if (s.config!.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  if (!SCOPE.test(scope)) return refuse(s, REFUSAL.invalid_command);
  if (isPaused) s.deposits.paused.add(scope);
  else s.deposits.paused.delete(scope);
  emit.DepositsPaused(s.events, { isPaused: isPaused ? 1 : 0 });
  return true;
}

/** Reopens a rejected deposit as if the same account registered it again; its votes are dropped. */
export function rejudgeDeposit(s: VenueState, { depositId }: RejudgeDeposit): boolean {
  if (s.config!.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  const deposit = s.deposits.byId.get(depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  if (deposit.status !== "rejected") return refuse(s, REFUSAL.deposit_not_rejected);
  reopen(s, deposit, deposit.registrant, deposit.token);
  emit.DepositReopened(s.events, { depositId });
  return true;
}

/** Records when the operator settled it. `reorged` stays, so that attestors do not report it again. */
export function settleReorgedDeposit(s: VenueState, { depositId }: SettleReorgedDeposit): boolean {
  const deposit = s.deposits.byId.get(depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  if (deposit.reorged === "" || deposit.reorgSettledAtMs !== 0) {
    return refuse(s, REFUSAL.deposit_not_reorged);
  }
  deposit.reorgSettledAtMs = s.timeMs;
  s.deposits.countReorg(deposit, -1);
  emit.DepositReorgSettled(s.events, { depositId });
  return true;
}
