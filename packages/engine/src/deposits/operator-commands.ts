/** What the operator decides about deposits: pauses, another judgement, the end of a reorganisation. */
import type { PauseDeposits, RejudgeDeposit, SettleReorgedDeposit } from "../commands.js";
import { EVENT } from "../event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { VenueState } from "../state/venue.js";
import { reopen } from "./deposit-commands.js";

/** Names of chains and tokens; anything else could never match a deposit. */
const SCOPE = /^[A-Za-z0-9]{1,16}$/;

export function pauseDeposits(s: VenueState, { scope, isPaused }: PauseDeposits): boolean {
  if (s.config!.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  if (!SCOPE.test(scope)) return refuse(s, REFUSAL.invalid_command);
  if (isPaused) s.deposits.paused.add(scope);
  else s.deposits.paused.delete(scope);
  s.events.emit(EVENT.DepositsPaused, isPaused ? 1 : 0);
  return true;
}

/** As if it were registered again by the same account; votes of before count for nothing. */
export function rejudgeDeposit(s: VenueState, { depositId }: RejudgeDeposit): boolean {
  if (s.config!.attestorKind === "dev") return refuse(s, REFUSAL.deposit_kind_mismatch);
  const deposit = s.deposits.byId.get(depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  if (deposit.status !== "rejected") return refuse(s, REFUSAL.deposit_not_rejected);
  reopen(s, deposit, deposit.registrant, deposit.token);
  s.events.emit(EVENT.DepositReopened, deposit.id);
  return true;
}

/** The mark stays, so that attestors do not report it again; only its time of settlement is new. */
export function settleReorgedDeposit(s: VenueState, command: SettleReorgedDeposit): boolean {
  const deposit = s.deposits.byId.get(command.depositId);
  if (deposit === undefined) return refuse(s, REFUSAL.deposit_unknown);
  if (deposit.reorged === "" || deposit.reorgSettledAtMs !== 0) {
    return refuse(s, REFUSAL.deposit_not_reorged);
  }
  deposit.reorgSettledAtMs = s.timeMs;
  s.events.emit(EVENT.DepositReorgSettled, deposit.id);
  return true;
}
