/**
 * Deposits as the venue knows them: who registered which transaction, what the attestors said, what
 * was credited. Keys are `chain hash` (under the `dev` attestor `account chain hash`, since it
 * credits whoever registers).
 */
import type { AttestDeposit, DepositCredit } from "../commands.js";
import { ExpiryQueue } from "../state/expiry-queue.js";

export type DepositStatus = "queued" | "confirming" | "credited" | "rejected";

export interface Vote {
  readonly verdict: AttestDeposit["verdict"];
  readonly votedAtMs: number;
  readonly confirmations: number;
  readonly required: number;
  readonly credits: readonly DepositCredit[];
  readonly reason: string;
  /** Part of the transaction's logs that the vote is about, from 1, and how many there are. */
  readonly part: number;
  readonly parts: number;
}

export interface AccountCredit {
  readonly account: number;
  readonly amountMicros: number;
  readonly logIndex: number;
  /** Empty where a vote of format 1 credited it: the token of the registration. */
  readonly token: string;
}

export interface Deposit {
  readonly id: number;
  /** Renewed when a rejected deposit is registered again. */
  registrant: number;
  registeredAtMs: number;
  /** 0 until credited or rejected. */
  settledAtMs: number;
  readonly chain: string;
  readonly txHash: string;
  token: string;
  status: DepositStatus;
  confirmations: number;
  required: number;
  reason: string;
  credits: readonly AccountCredit[];
  /** Parts credited so far of a transaction that is credited in several; 0 for all others. */
  creditedParts: number;
  /** Why a credited deposit is in doubt: its transaction left the chain. Empty if it is not. */
  reorged: string;
  /** When the operator settled that; 0 while it is open. */
  reorgSettledAtMs: number;
  /** The latest vote of each attestor. */
  readonly votes: Map<number, Vote>;
}

export class DepositBook {
  readonly byId = new Map<number, Deposit>();
  readonly byKey = new Map<string, Deposit>();
  /** Chains and tokens whose deposits are neither credited nor rejected at present. */
  readonly paused = new Set<string>();
  /** Deposits that the `dev` attestor has yet to credit. */
  readonly devDue = new ExpiryQueue();

  add(key: string, deposit: Deposit): void {
    this.byId.set(deposit.id, deposit);
    this.byKey.set(key, deposit);
  }
}
