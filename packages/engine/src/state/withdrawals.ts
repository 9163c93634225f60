/**
 * Withdrawals that are neither paid nor expired, with what attestors say about them; what has left by chain
 * and token; and what counts against the bounds. Changes only where nothing can fail any more: there is no undo.
 */
import { HOUR_MS } from "@perpgate/protocol/rules";
import type { AttestWithdrawal } from "../commands.js";
import { UsageWindow } from "./usage-window.js";

export const OPEN_WITHDRAWAL_STATUSES = ["queued", "attested", "pending"] as const;
export type OpenStatus = (typeof OPEN_WITHDRAWAL_STATUSES)[number];

/** The latest thing that an attestor has seen on the chain. */
export type PaymentVote = Pick<AttestWithdrawal, "votedAtMs" | "txHash"> & {
  readonly verdict: Exclude<AttestWithdrawal["verdict"], "signed">;
};

export interface WithdrawalState {
  /** Position of the command. */
  readonly id: number;
  readonly account: number;
  readonly chain: string;
  readonly token: string;
  readonly amountMicros: number;
  readonly feeMicros: number;
  readonly requestedAtMs: number;
  readonly deadlineMs: number;
  status: OpenStatus;
  /** Attestors that have signed the vault's data. */
  readonly signers: Set<number>;
  readonly sightings: Map<number, PaymentVote>;
}

/** Key of all accounts together in the windows; no account has this number. */
export const ALL_ACCOUNTS = 0;

/** No part contains a space. */
export function flowKey(chain: string, token: string): string {
  return `${chain} ${token}`;
}

export class WithdrawalBook {
  readonly byId = new Map<number, WithdrawalState>();
  /** Amounts requested less those that expired, by chain and token, since the venue began. */
  readonly sent = new Map<string, number>();
  /** Requested amounts, of all accounts: an hour and up to five minutes. */
  readonly hour = new UsageWindow(HOUR_MS / 12, 13);
  /** By account, and of all: a day and up to an hour. */
  readonly day = new UsageWindow(HOUR_MS, 25);
  /** Chain id of the contract by which an account last signed in. */
  readonly contractChains = new Map<number, number>();
  /** Amounts and fees that may have to be credited again; derived. */
  owed = 0;
  /** Amounts not yet paid, by chain; derived. */
  private readonly unpaidOf = new Map<string, number>();

  /** Amounts are positive. */
  hasOpen(chain: string): boolean {
    return this.unpaidOf.has(chain);
  }

  unpaid(chain: string): number {
    return this.unpaidOf.get(chain) ?? 0;
  }

  sentOf(chain: string, token: string): number {
    return this.sent.get(flowKey(chain, token)) ?? 0;
  }

  countSent({ chain, token }: Pick<WithdrawalState, "chain" | "token">, micros: number): void {
    const key = flowKey(chain, token);
    const sum = (this.sent.get(key) ?? 0) + micros;
    if (sum === 0) this.sent.delete(key);
    else this.sent.set(key, sum);
  }

  /** Adds an open withdrawal: a new one, or one of a snapshot. */
  add(withdrawal: WithdrawalState): void {
    this.byId.set(withdrawal.id, withdrawal);
    this.countOpen(withdrawal, 1);
  }

  /** Removes one that was paid or has expired. */
  remove(withdrawal: WithdrawalState): void {
    this.byId.delete(withdrawal.id);
    this.countOpen(withdrawal, -1);
  }

  /** Open withdrawals, ascending id. */
  sorted(): WithdrawalState[] {
    return [...this.byId.values()].sort((a, b) => a.id - b.id);
  }

  private countOpen({ chain, amountMicros, feeMicros }: WithdrawalState, sign: 1 | -1): void {
    this.owed += sign * (amountMicros + feeMicros);
    const unpaid = this.unpaid(chain) + sign * amountMicros;
    if (unpaid === 0) this.unpaidOf.delete(chain);
    else this.unpaidOf.set(chain, unpaid);
  }
}
