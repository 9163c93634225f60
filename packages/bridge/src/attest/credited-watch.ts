/**
 * Watches deposits after they were credited. A reorganisation that reaches past the confirmations
 * cannot be undone here: the money was credited and may be lost. It is reported once.
 *
 * The blocks in which credited transactions stood are remembered only while the process runs. After
 * a restart the first reading takes their place: a transaction that is gone is still noticed, one
 * that moved to another block meanwhile with the same money is not, and costs nothing.
 */

import type { ReorgReason } from "../bridge-event.js";
import type { Agreement } from "../chain/agreement.js";
import type { ChainConfig } from "../config/chain-config.js";
import type { CreditedDeposit } from "../venue-port.js";
import { type Transfers, transfersIn } from "./transfers.js";

export class CreditedWatch {
  private readonly blockOf = new Map<number, string>();
  private readonly reported = new Set<number>();
  private nextMs = Number.NEGATIVE_INFINITY;

  private readonly config: ChainConfig;

  constructor(config: ChainConfig) {
    // What was credited stays credited, also if the smallest deposit was smaller then.
    this.config = { ...config, minDepositMicros: 0 };
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.nextMs;
  }

  /** Takes the deposits to watch from now on and forgets all others. */
  begin(deposits: readonly CreditedDeposit[], nowMs: number): readonly CreditedDeposit[] {
    this.nextMs = nowMs + this.config.recheckIntervalMs;
    const ids = new Set(deposits.map(({ depositId }) => depositId));
    for (const id of this.blockOf.keys()) if (!ids.has(id)) this.blockOf.delete(id);
    for (const id of this.reported) if (!ids.has(id)) this.reported.delete(id);
    return deposits.filter(({ depositId, isMarked }) => !isMarked && !this.reported.has(depositId));
  }

  /** Why the deposit's credit no longer stands where it stood, or null. */
  check(deposit: CreditedDeposit, agreement: Agreement): ReorgReason | null {
    if (agreement.kind === "silent" || agreement.kind === "disagreed") return null;
    // A node that has not caught up with the credit knows nothing about it.
    if (agreement.headTimeMs < deposit.creditedAtMs) return null;
    if (agreement.kind === "unknown") return "transaction_gone";
    // A receipt of a block that is no longer canonical: the next look will tell which it is.
    if (agreement.confirmations === 0) return null;
    if (!holdsMoney(transfersIn(agreement.receipt, this.config), deposit.credits)) {
      return "transaction_gone";
    }
    const { blockHash } = agreement.receipt;
    const known = this.blockOf.get(deposit.depositId);
    // The first block stays the measure: an alarm that could not be delivered is raised again.
    if (known === undefined) this.blockOf.set(deposit.depositId, blockHash);
    return known === undefined || known === blockHash ? null : "transaction_moved";
  }

  /** The alarm was raised and the deposit marked: not again. */
  wasReported(depositId: number): void {
    this.reported.add(depositId);
  }
}

/**
 * Whether the transaction still pays every sum that was credited, to the same account: a log's index
 * changes with its block, and what was credited may be a part of what was paid.
 */
function holdsMoney(transfers: Transfers, credited: CreditedDeposit["credits"]): boolean {
  if (transfers.credits === null) return false;
  const rest = new Map<string, number>();
  for (const { address, amountMicros } of transfers.credits) {
    const sum = `${address} ${amountMicros}`;
    rest.set(sum, (rest.get(sum) ?? 0) + 1);
  }
  return credited.every(({ address, amountMicros }) => {
    const sum = `${address} ${amountMicros}`;
    const left = rest.get(sum) ?? 0;
    rest.set(sum, left - 1);
    return left > 0;
  });
}
