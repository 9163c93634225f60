/**
 * Deposits: who registered which transaction, the attestors' votes, and the credits. The key of a
 * deposit is chain and hash; under the `dev` attestor, which credits the registrant, it also contains
 * the account.
 */
import { DEV_CREDIT_DELAY_MS } from "@perpgate/protocol/rules";
import type { AttestDeposit, AttestedCredit } from "../commands.js";
import { REJECTED_DEPOSIT_MS, UNSEEN_DEPOSIT_MS } from "../config.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Timers } from "./timers.js";
import { flowKey } from "./withdrawals.js";

export type DepositStatus = "queued" | "confirming" | "credited" | "rejected";

export interface AttestorVote {
  readonly verdict: AttestDeposit["verdict"];
  readonly votedAtMs: number;
  readonly confirmations: number;
  readonly required: number;
  readonly credits: readonly AttestedCredit[];
  readonly reason: string;
  /** Which part of the transaction's logs the vote is about, from 1, and the number of parts. */
  readonly part: number;
  readonly parts: number;
}

export interface AccountCredit {
  readonly account: number;
  readonly amountMicros: number;
  readonly logIndex: number;
  /** Empty for the token of the registration, as in credits of the `dev` attestor. */
  readonly token: string;
}

export interface DepositRecord {
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
  readonly votes: Map<number, AttestorVote>;
}

/** No part contains a space; `account` is 0 where the registrant does not matter. */
export function depositKey(account: number, chain: string, txHash: string): string {
  return `${account} ${chain} ${txHash}`;
}

/** Whether no attestor has seen it on its chain. One that was credited in part was seen. */
export function isUnseen({ status, votes, credits }: DepositRecord): boolean {
  return status === "queued" && votes.size === 0 && credits.length === 0;
}

/** Whether its votes may still decide something: of a credited one only that its transaction is gone. */
function isUndecided({ status, reorged, votes }: DepositRecord): boolean {
  if (status === "rejected" || reorged !== "") return false;
  if (status !== "credited") return true;
  for (const { verdict } of votes.values()) if (verdict === "reorged") return true;
  return false;
}

/** Whether one of the logs was credited with an earlier part: other terms make other parts. */
export function creditsAgain(
  { credits }: Pick<DepositRecord, "credits">,
  next: readonly { readonly logIndex: number }[],
): boolean {
  if (credits.length === 0) return false;
  const logs = new Set(credits.map(({ logIndex }) => logIndex));
  return next.some(({ logIndex }) => logs.has(logIndex));
}

export class DepositBook {
  readonly byId = new Map<number, DepositRecord>();
  readonly byKey = new Map<string, DepositRecord>();
  /** Chains and tokens whose deposits are paused: neither credited nor rejected. */
  readonly paused = new Set<string>();
  /** When deposits that cost nothing may be forgotten; derived. */
  readonly forgettable: Timers;
  /** Who registered each deposit that no attestor has seen, and how many each account has; derived. */
  private readonly unseenBy = new Map<number, number>();
  private readonly unseenOf = new Map<number, number>();
  /** Unsettled reorganisations of the credits of each account; derived. */
  private readonly reorgsOf = new Map<number, number>();
  /** Credits less those that were reorganised away and are not settled, by chain and token; derived. */
  private readonly creditedOf = new Map<string, number>();
  /** Deposits whose votes may still decide something, by id; derived. */
  private readonly undecided = new Map<number, DepositRecord>();
  /** Deposits that the `dev` attestor has yet to credit; only that settles them. */
  readonly devDue: Timers;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.forgettable = new Timers(seed);
    this.devDue = new Timers(seed);
  }

  add(key: string, deposit: DepositRecord): void {
    this.byId.set(deposit.id, deposit);
    this.byKey.set(key, deposit);
  }

  /** Removes a deposit that has credited nothing: its hash may be registered as a new one. */
  forget(key: string, deposit: DepositRecord): void {
    this.byId.delete(deposit.id);
    this.byKey.delete(key);
    this.forgettable.delete(deposit.id);
    this.undecided.delete(deposit.id);
    this.countUnseen(deposit.id, undefined);
  }

  /** Hashes of the account that no attestor has seen. */
  unseen(account: number): number {
    return this.unseenOf.get(account) ?? 0;
  }

  /** Brings what is derived from a deposit's status and votes up to date. */
  note(deposit: DepositRecord): void {
    const { id, status, credits, registrant } = deposit;
    if (isUndecided(deposit)) this.undecided.set(id, deposit);
    else this.undecided.delete(id);
    const isNowUnseen = isUnseen(deposit);
    this.countUnseen(id, isNowUnseen ? registrant : undefined);
    if (isNowUnseen) this.forgettable.set(id, deposit.registeredAtMs + UNSEEN_DEPOSIT_MS);
    else if (status === "rejected" && credits.length === 0) {
      this.forgettable.set(id, deposit.settledAtMs + REJECTED_DEPOSIT_MS);
    } else this.forgettable.delete(id);
  }

  private countUnseen(id: number, account: number | undefined): void {
    const counted = this.unseenBy.get(id);
    if (counted === account) return;
    if (counted !== undefined) {
      const left = this.unseen(counted) - 1;
      if (left === 0) this.unseenOf.delete(counted);
      else this.unseenOf.set(counted, left);
    }
    if (account === undefined) this.unseenBy.delete(id);
    else {
      this.unseenBy.set(id, account);
      this.unseenOf.set(account, this.unseen(account) + 1);
    }
  }

  /** Whether a credit of the account was reorganised away and is not settled. */
  hasReorg(account: number): boolean {
    return this.reorgsOf.size > 0 && this.reorgsOf.has(account);
  }

  /** What the vault of the chain has received of the token for the venue's accounts, ever. */
  credited(chain: string, token: string): number {
    return this.creditedOf.get(flowKey(chain, token)) ?? 0;
  }

  countCredits(
    { chain, token: named }: DepositRecord,
    credits: readonly AccountCredit[],
    sign: 1 | -1 = 1,
  ): void {
    for (const { token, amountMicros } of credits) {
      const key = flowKey(chain, token === "" ? named : token);
      this.creditedOf.set(key, (this.creditedOf.get(key) ?? 0) + sign * amountMicros);
    }
  }

  /** Counts a reorganisation for the accounts that the deposit credited; −1 once it is settled. */
  countReorg(deposit: DepositRecord, change: 1 | -1): void {
    const { credits } = deposit;
    this.countCredits(deposit, credits, change === 1 ? -1 : 1);
    for (const account of new Set(credits.map((entry) => entry.account))) {
      const count = (this.reorgsOf.get(account) ?? 0) + change;
      if (count === 0) this.reorgsOf.delete(account);
      else this.reorgsOf.set(account, count);
    }
  }

  /** The `dev` attestor credits a deposit this long after its latest registration. */
  awaitDevCredit({ registeredAtMs, id }: DepositRecord): void {
    this.devDue.set(id, registeredAtMs + DEV_CREDIT_DELAY_MS);
  }

  /** Those that are open, and credited ones that an attestor reports as gone; ascending id. */
  toRecount(): DepositRecord[] {
    return [...this.undecided.values()].sort((a, b) => a.id - b.id);
  }

  /** All deposits, ascending id. */
  sorted(): DepositRecord[] {
    return [...this.byId.values()].sort((a, b) => a.id - b.id);
  }
}
