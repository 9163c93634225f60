/** What a withdrawal costs, and how much can leave. */

import type { BridgeInfo } from "@perpgate/protocol";
import { fromMicros, toMicrosFloor } from "@perpgate/protocol/core";
import { floorToCents, formatDollars } from "../format/numbers.js";
import { t } from "../text/texts.js";

export type WithdrawalRules = NonNullable<BridgeInfo["withdrawals"]>;

/** The most that the account can ask for at once; the venue's own bounds may leave less. */
export function largestWithdrawal(
  { fee, accountPerDay }: WithdrawalRules,
  available: number,
): number {
  const room = fromMicros(Math.max(0, toMicrosFloor(available) - toMicrosFloor(fee)));
  return floorToCents(Math.min(room, accountPerDay));
}

/** Why an amount cannot be asked for; undefined if it can. */
export function amountProblem(
  rules: WithdrawalRules,
  available: number,
  amount: number,
): string | undefined {
  const most = largestWithdrawal(rules, available);
  if (most < rules.minWithdrawal) {
    return t.withdraw.leastAndFee(formatDollars(rules.minWithdrawal));
  }
  if (amount < rules.minWithdrawal) return t.withdraw.atLeast(formatDollars(rules.minWithdrawal));
  return amount > most ? t.positions.atMost(formatDollars(most)) : undefined;
}
