/**
 * Deposits: who registered which transaction, the attestors' votes, and the credits. The key of a
 * deposit is chain and hash; under the `dev` attestor, which credits the registrant, it also contains
 * the account.
 */
import { DEV_CREDIT_DELAY_MS } from "@perpgate/protocol/rules";
import type { AttestDeposit, DepositCredit } from "../commands.js";
import { ExpiryQueue } from "./expiry-queue.js";

export type DepositStatus = "queued" | "confirming" | "credited" | "rejected";

export interface Vote {
  readonly verdict: AttestDeposit["verdict"];
  readonly votedAtMs: number;
  readonly confirmations: number;
  readonly required: number;
  readonly credits: readonly DepositCredit[];
  readonly reason: string;
  /** Which part of the transaction's logs the vote is about, from 1, and the number of parts. */
  readonly part: number;
  readonly parts: number;
}

export interface AccountCredit {
  readonly account: number;
  readonly amountMicros: number;
  readonly logIndex: number;
  /** Empty for votes of format 1, which mean the token of the registration. */
  readonly token: string;
}

export interface Deposit {
  readonly id: number;
  /** Replaced when a rejected deposit is registered again. */
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
  /** Why the transaction of a credited deposit left its chain; empty if it did not. */
  reorged: string;
  /** When the operator settled the reorganisation; 0 until then. */
  reorgSettledAtMs: number;
  /** The latest vote of each attestor. */
  readonly votes: Map<number, Vote>;
}

/** No part contains a space; `account` is 0 where the registrant does not matter. */
export function depositKey(account: number, chain: string, txHash: string): string {
  return `${account} ${chain} ${txHash}`;
}

export class DepositBook {
  readonly byId = new Map<number, Deposit>();
  readonly byKey = new Map<string, Deposit>();
  /** Chains and tokens whose deposits are paused: neither credited nor rejected. */
  readonly paused = new Set<string>();
  /** Deposits that the `dev` attestor has yet to credit. */
  readonly devDue = new ExpiryQueue();

  add(key: string, deposit: Deposit): void {
    this.byId.set(deposit.id, deposit);
    this.byKey.set(key, deposit);
  }

  /** The `dev` attestor credits a deposit this long after its latest registration. */
  awaitDevCredit({ registeredAtMs, id }: Deposit): void {
    this.devDue.push(registeredAtMs + DEV_CREDIT_DELAY_MS, id);
  }

  /** All deposits, ascending id. */
  sorted(): Deposit[] {
    return [...this.byId.values()].sort((a, b) => a.id - b.id);
  }
}
