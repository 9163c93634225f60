/**
 * The cost budget: how much processor time one client may use.
 *
 * Every client address has a budget that refills with time. All work for that address is charged to
 * it, refusals included, mostly after the fact, so it may fall into debt. While an address is in debt
 * nothing of it is served: its work waits here, first come first served, and one item is let through
 * each time the debt is repaid. Nothing is refused for being over budget; it is only slower, up to a
 * bound on how much may wait.
 *
 * An account has a budget too, whatever addresses it comes from. And each address has a reserve that
 * only cancels and reductions of live sessions draw from, so that strangers who share an address with
 * a trader cannot keep the trader from getting out.
 *
 * The debt is bounded: an address that stops is served again after at most `MAX_DEBT_MS` of refill.
 */

import type { LimitSettings } from "./limit-settings.js";
import type { Monotonic } from "./limits.js";
import { TokenBuckets } from "./token-buckets.js";

const MICROS_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;
/** How long an address in the deepest debt waits. */
const MAX_DEBT_MS = 2_000;

interface Waiter {
  readonly run: () => void;
}

class Budget<Key extends string | number> {
  private readonly buckets: TokenBuckets<Key>;
  private readonly maxDebt: number;

  constructor(
    name: string,
    msPerSecond: number,
    burstMs: number,
    private readonly monotonic: Monotonic,
  ) {
    const perSecond = msPerSecond * MICROS_PER_MS;
    this.buckets = new TokenBuckets({ name, perSecond, burst: burstMs * MICROS_PER_MS });
    this.maxDebt = (perSecond * MAX_DEBT_MS) / MS_PER_SECOND;
  }

  charge(key: Key, micros: number): void {
    this.buckets.charge(key, micros, this.maxDebt, this.monotonic());
  }

  debtMs(key: Key): number {
    return this.buckets.debtMs(key, this.monotonic());
  }
}

/** What operators see of the budgets. */
export interface CostMetrics {
  onCharged(micros: number): void;
  onHeld(): void;
  onParsed(bytes: number): void;
}

export class CostBudgets {
  private readonly addresses: Budget<string>;
  private readonly reserves: Budget<string>;
  private readonly accounts: Budget<number>;
  private readonly waiting = new Map<string, Waiter[]>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private isOpen = true;

  constructor(
    settings: LimitSettings,
    private readonly metrics: CostMetrics,
    monotonic: Monotonic = () => performance.now(),
  ) {
    const { costMsPerSecond, costBurstMs, reserveMsPerSecond, reserveBurstMs } = settings;
    const { accountCostMsPerSecond, accountCostBurstMs } = settings;
    this.addresses = new Budget("cost", costMsPerSecond, costBurstMs, monotonic);
    this.reserves = new Budget("reserve", reserveMsPerSecond, reserveBurstMs, monotonic);
    this.accounts = new Budget("cost", accountCostMsPerSecond, accountCostBurstMs, monotonic);
  }

  charge(address: string, micros: number): void {
    this.metrics.onCharged(micros);
    this.addresses.charge(address, micros);
  }

  /** Notes that client bytes go to a parser, which nobody without a budget should reach. */
  noteParsed(bytes: number): void {
    this.metrics.onParsed(bytes);
  }

  chargeAccount(account: number, micros: number): void {
    this.accounts.charge(account, micros);
  }

  /** Milliseconds until the account's debt is repaid; 0 where there is none. */
  accountDebtMs(account: number): number {
    return this.isOpen ? this.accounts.debtMs(account) : 0;
  }

  /** Whether work of the address has to wait. */
  isOwing(address: string): boolean {
    if (!this.isOpen) return false;
    return this.waiting.has(address) || this.addresses.debtMs(address) > 0;
  }

  /** Whether the address is in debt, whatever else of it waits. */
  isInDebt(address: string): boolean {
    return this.isOpen && this.addresses.debtMs(address) > 0;
  }

  /** Takes from the address's reserve and returns true, or returns false while it is used up. */
  takeReserve(address: string, micros: number): boolean {
    if (this.reserves.debtMs(address) > 0) return false;
    this.reserves.charge(address, micros);
    return true;
  }

  /** How much work of the address waits. */
  waitingCount(address: string): number {
    return this.waiting.get(address)?.length ?? 0;
  }

  /**
   * Runs `run` in its turn once the debt of the address is repaid, never within this call: a caller
   * that has just seen `isOwing` may find the debt repaid a moment later, and keeps what is returned
   * as a sign that it waits. `run` must charge what it begins, so that the next item waits for it.
   * Returns how to give up waiting.
   */
  whenPaid(address: string, run: () => void): () => void {
    if (!this.isOpen) {
      queueMicrotask(run);
      return () => undefined;
    }
    this.metrics.onHeld();
    const waiter = { run };
    const queue = this.waiting.get(address);
    if (queue === undefined) this.waiting.set(address, [waiter]);
    else queue.push(waiter);
    this.schedule(address);
    return () => this.forget(address, waiter);
  }

  /** Lets everything through from now on: the server drains, and each request gets its refusal. */
  close(): void {
    this.isOpen = false;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    const queues = [...this.waiting.values()];
    this.waiting.clear();
    for (const queue of queues) for (const { run } of queue) run();
  }

  private forget(address: string, waiter: Waiter): void {
    const queue = this.waiting.get(address);
    const index = queue?.indexOf(waiter) ?? -1;
    if (queue === undefined || index === -1) return;
    queue.splice(index, 1);
    if (queue.length === 0) this.waiting.delete(address);
  }

  private schedule(address: string): void {
    if (this.timers.has(address)) return;
    const delayMs = Math.max(1, Math.ceil(this.addresses.debtMs(address)));
    const timer = setTimeout(() => {
      this.timers.delete(address);
      this.release(address);
    }, delayMs);
    this.timers.set(address, timer.unref());
  }

  /** Each waiter has one turn: one that waits again, having charged nothing, must not loop here. */
  private release(address: string): void {
    const queue = this.waiting.get(address);
    if (queue === undefined) return;
    for (let turns = queue.length; turns > 0 && queue.length > 0; turns--) {
      if (this.addresses.debtMs(address) > 0) break;
      queue.shift()?.run();
    }
    if (queue.length === 0) this.waiting.delete(address);
    else this.schedule(address);
  }
}
