/**
 * Watches deposits after they were credited. A reorganisation that reaches past the confirmations
 * cannot be undone here: the money was credited and may be lost. It is told, once and loudly.
 *
 * The blocks in which credited transactions stood are remembered only while the process runs. After
 * a restart the first reading takes their place: a transaction that is gone is still noticed, one
 * that moved to another block meanwhile with the same money is not, and costs nothing.
 */

import type { ReorgReason } from "../bridge-event.js";
import type { Agreement } from "../chain/agreement.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { CreditedDeposit } from "../venue-port.js";
import type { VoteCredit } from "../vote.js";
import { transfersIn } from "./transfers.js";

export class CreditedWatch {
  private readonly blockOf = new Map<number, string>();
  private readonly told = new Set<number>();
  private nextMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly config: ChainConfig) {}

  isDue(nowMs: number): boolean {
    return nowMs >= this.nextMs;
  }

  /** Takes the deposits to watch from now on and forgets all others. */
  begin(deposits: readonly CreditedDeposit[], nowMs: number): readonly CreditedDeposit[] {
    this.nextMs = nowMs + this.config.recheckIntervalMs;
    const ids = new Set(deposits.map(({ depositId }) => depositId));
    for (const id of this.blockOf.keys()) if (!ids.has(id)) this.blockOf.delete(id);
    for (const id of this.told) if (!ids.has(id)) this.told.delete(id);
    return deposits.filter(({ depositId, isMarked }) => !isMarked && !this.told.has(depositId));
  }

  /** Why the deposit's credit no longer stands where it stood, or null. */
  check(deposit: CreditedDeposit, agreement: Agreement): ReorgReason | null {
    if (agreement.kind === "silent" || agreement.kind === "disagreed") return null;
    // A node that has not caught up with the credit knows nothing about it.
    if (agreement.headTimeMs < deposit.creditedAtMs) return null;
    if (agreement.kind === "unknown") return "transaction_gone";
    // A receipt of a block that is no longer canonical: the next look will tell which it is.
    if (agreement.confirmations === 0) return null;
    const transfers = transfersIn(agreement.receipt, deposit.token, this.config);
    if (transfers.credits === null || !isSameMoney(transfers.credits, deposit.credits)) {
      return "transaction_gone";
    }
    const { blockHash } = agreement.receipt;
    const known = this.blockOf.get(deposit.depositId);
    // The first block stays the measure: an alarm that could not be delivered is raised again.
    if (known === undefined) this.blockOf.set(deposit.depositId, blockHash);
    return known === undefined || known === blockHash ? null : "transaction_moved";
  }

  /** The alarm was raised and the deposit marked: not again. */
  wasTold(depositId: number): void {
    this.told.add(depositId);
  }
}

/** The same sums to the same accounts; a log's index changes with its block. */
function isSameMoney(a: readonly VoteCredit[], b: readonly VoteCredit[]): boolean {
  const rows = (credits: readonly VoteCredit[]): string =>
    credits
      .map(({ address, amountMicros }) => `${address} ${amountMicros}`)
      .sort()
      .join("|");
  return rows(a) === rows(b);
}
