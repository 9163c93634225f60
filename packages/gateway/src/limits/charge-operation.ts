/**
 * What an operation costs its sender, charged before it runs: to the client address, and to the
 * account once the token has named it. An account in debt is refused, from whatever address it comes;
 * cancels and reductions are not.
 */

import type { Operation } from "@perpgate/protocol/operations";
import type { HeaderSink } from "../request.js";
import type { CostBudgets } from "./cost-budget.js";
import { overBudget } from "./over-budget.js";

type Charged = Pick<Operation, "costMicros" | "limit">;

/** Whose budgets a request or a message counts against. */
export interface Payer {
  /** Of the client address. */
  readonly key: string;
  /** Known once a token has named it. */
  account: number | undefined;
  /** Whose budget is used up; then only a cancel or a reduction is served at once. */
  overBudget: OverBudget | undefined;
}

export type OverBudget = "address" | "account";

/** Work of one address that may wait for its budget; more is refused. */
export const MAX_WAITING = 64;

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
  const debtMs = budgets.accountDebtMs(account);
  if (debtMs > 0 && limit !== "cancels") {
    if (limit !== "orders") throw overBudget(header, debtMs);
    payer.overBudget = "account";
  }
  budgets.chargeAccount(account, costMicros);
}

/**
 * Returns once an order may be served that its sender's budgets do not cover now. A reduction may at
 * once. Another order waits for the budget of its address in its turn; it is refused if that is the
 * account's, or if too much waits already.
 */
export async function orderWithinBudget(
  budgets: CostBudgets,
  { key, overBudget: owing }: Readonly<Payer>,
  isReduction: boolean,
  header: HeaderSink,
): Promise<void> {
  if (owing === undefined || isReduction) return;
  if (owing === "account" || budgets.waitingCount(key) >= MAX_WAITING) throw overBudget(header);
  await new Promise<void>((resolve) => {
    budgets.whenPaid(key, resolve);
  });
}
