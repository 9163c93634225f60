/**
 * Watches credited deposits for reorganisations deeper than the required confirmations. Such a credit
 * cannot be undone here; it is reported once for each reason, until a quorum agrees on one.
 *
 * The blocks of credited transactions are kept in memory. After a restart the first reading replaces
 * them: a removed transaction is still detected; one that moved to another block with the same
 * transfers is not, which costs nothing. The restart may have changed the vault or the contracts, so
 * the first reading also accepts the same logs in the same places.
 */

import type { CreditedDeposit } from "@perpgate/protocol";
import type { ReorgReason } from "../bridge-event.js";
import type { EndpointAgreement } from "../chain/agreement.js";
import type { ChainConfig } from "../config/chain-config.js";
import { hasSameLogs, type Transfers, transfersIn } from "./transfers.js";

export class CreditedWatch {
  private readonly blockOf = new Map<number, string>();
  /** The reason that was reported last. */
  private readonly reported = new Map<number, ReorgReason>();
  private nextMs = Number.NEGATIVE_INFINITY;

  private readonly config: ChainConfig;

  constructor(config: ChainConfig) {
    // The minimum deposit may have been smaller when this was credited.
    this.config = { ...config, minDepositMicros: 0 };
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.nextMs;
  }

  /** Sets the watched deposits; returns those to check now. */
  begin(deposits: readonly CreditedDeposit[], nowMs: number): readonly CreditedDeposit[] {
    this.nextMs = nowMs + this.config.recheckIntervalMs;
    const ids = new Set(deposits.map(({ depositId }) => depositId));
    for (const id of this.blockOf.keys()) if (!ids.has(id)) this.blockOf.delete(id);
    for (const id of this.reported.keys()) if (!ids.has(id)) this.reported.delete(id);
    return deposits.filter(({ isMarked }) => !isMarked);
  }

  /** Why the credit is no longer backed by the same block; null if it is, or the reason was reported. */
  check(deposit: CreditedDeposit, agreement: EndpointAgreement): ReorgReason | null {
    const reason = this.reasonOf(deposit, agreement);
    const said = this.reported.get(deposit.depositId) ?? deposit.ownVote?.reason;
    return reason === said ? null : reason;
  }

  private reasonOf(deposit: CreditedDeposit, agreement: EndpointAgreement): ReorgReason | null {
    if (agreement.kind === "silent" || agreement.kind === "disagreed") return null;
    // The node has not reached the time of the credit.
    if (agreement.headTimeMs < deposit.creditedAtMs) return null;
    if (agreement.kind === "unknown") return "transaction_gone";
    // The receipt is of a block that is no longer canonical; the next check decides.
    if (agreement.confirmations === 0) return null;
    const { receipt } = agreement;
    const { depositId, credits } = deposit;
    const known = this.blockOf.get(depositId);
    // A block's hash fixes its logs.
    if (known === receipt.blockHash) return null;
    const pays = stillPays(transfersIn(receipt, this.config), credits);
    if (known === undefined && (pays || hasSameLogs(receipt, credits))) {
      // Never overwritten, so that an undelivered alarm is raised again.
      this.blockOf.set(depositId, receipt.blockHash);
      return null;
    }
    return pays ? "transaction_moved" : "transaction_gone";
  }

  /** The venue has the vote: do not report this reason again. */
  wasReported(depositId: number, reason: ReorgReason): void {
    this.reported.set(depositId, reason);
  }
}

/**
 * Whether the transaction still pays every credited amount from the same sender. Log indexes change
 * with the block, and the credits may be only a part of the transfers.
 */
function stillPays(transfers: Transfers, credited: CreditedDeposit["credits"]): boolean {
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
