/**
 * Charges the cost of an operation before it runs, to the client address and, with a token, to the
 * account. An account in debt is refused on every address, except for cancels and reductions.
 */

import type { ApiError } from "@perpgate/protocol";
import type { Operation } from "@perpgate/protocol/operations";
import type { HeaderSink } from "../request.js";
import type { CostBudgets } from "./cost-budget.js";
import { COST } from "./costs.js";
import { rateLimited } from "./limits.js";

type Charged = Pick<Operation, "costMicros" | "limit">;

/** The budgets that a request or message is charged to. */
export interface Payer {
  /** The key of the client address. */
  readonly key: string;
  /** Known once the token is checked. */
  account: number | undefined;
  /** The budget that is used up; then only cancels and reductions are served immediately. */
  overBudget: OverBudget | undefined;
  /**
   * Of an order that is read in debt: lets the reserve pay for it, and what is added, if it reduces. Returns
   * false if the reserve is used up.
   */
  asExit: ((addedMicros: number) => boolean) | undefined;
}

export type OverBudget = "address" | "account";

/** Items of one address that may wait for its budget; more are refused. */
export const MAX_WAITING_CHARGES = 64;

/** The error for work that may not wait until its sender's budget allows it. */
export function overBudget(header?: HeaderSink, retryAfterMs = 1_000): ApiError {
  return rateLimited("cost", retryAfterMs, header);
}

export function chargeOperation(
  budgets: CostBudgets,
  payer: Payer,
  { costMicros, limit }: Charged,
  account: number | undefined,
  header: HeaderSink,
): void {
  budgets.charge(payer.key, costMicros);
  if (account === undefined) return;
  payer.account = account;
  budgets.noteSession(payer.key);
  const debtMs = budgets.accountDebtMs(account);
  if (debtMs > 0 && limit !== "cancels") {
    if (limit !== "orders") throw overBudget(header, debtMs);
    payer.overBudget = "account";
  }
  budgets.chargeAccount(account, costMicros);
}

/** A cancel, or an order, of which it is not known whether it reduces, of a live session. */
export interface PossibleExit {
  readonly account: number;
  readonly isOrder: boolean;
}

/** Whether the reserve of an address in debt pays for it, so that it is served immediately. */
export function takeReserve(
  budgets: CostBudgets,
  payer: Payer,
  { account, isOrder }: PossibleExit,
  micros: number,
): boolean {
  if (isOrder) {
    payer.asExit = budgets.takeAttempt(payer.key, account, micros);
    if (payer.asExit === undefined) return false;
  } else if (!budgets.takeReserve(payer.key, account, micros)) {
    return false;
  }
  payer.overBudget = "address";
  return true;
}

/** Charges the address and, if it is known, the account. */
export function chargeBoth(
  budgets: CostBudgets,
  { key, account }: Readonly<Pick<Payer, "key" | "account">>,
  micros: number,
): void {
  budgets.charge(key, micros);
  if (account !== undefined) budgets.chargeAccount(account, micros);
}

/**
 * Charges the work units of a command. One that the reserve let pass is charged to the reserve, too:
 * otherwise reductions of an address in debt could be as expensive as they like.
 */
export function chargeWork(
  budgets: CostBudgets,
  payer: Readonly<Pick<Payer, "key" | "account" | "overBudget">>,
  units: number,
): void {
  const micros = COST.workUnit * units;
  chargeBoth(budgets, payer, micros);
  if (payer.overBudget !== "address" || payer.account === undefined) return;
  budgets.chargeReserve(payer.key, payer.account, micros);
}

/** Charges the rows of the history that an operation has read, whether it returns them or not. */
export function chargeRows(budgets: CostBudgets, payer: Readonly<Payer>, rows: number): void {
  chargeBoth(budgets, payer, COST.historyRow * rows);
}

/**
 * Resolves when the order may be served: immediately within budget or for a reduction that the reserve
 * pays for, otherwise in FIFO order when the debt of the address is repaid. Throws `rate_limited` if the
 * account is over its budget and the order is no reduction, or if too much of the address waits already.
 * `addedMicros` is what it costs beyond a single order.
 */
export async function orderWithinBudget(
  budgets: CostBudgets,
  { key, overBudget: exceeded, asExit }: Readonly<Payer>,
  isReduction: boolean,
  header: HeaderSink,
  addedMicros = 0,
): Promise<void> {
  if (exceeded === undefined) return;
  if (isReduction && (asExit === undefined || asExit(addedMicros))) return;
  if (exceeded === "account" && !isReduction) throw overBudget(header);
  if (budgets.waitingCount(key) >= MAX_WAITING_CHARGES) throw overBudget(header);
  await new Promise<void>((resolve) => {
    budgets.whenPaid(key, resolve);
  });
}
