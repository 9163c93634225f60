/**
 * Cost budgets: how much processor time a client may use.
 *
 * Each client address has a token bucket. All work for the address is charged to it, errors included,
 * mostly after the work, so it may go into debt. While it is in debt, its work waits in a FIFO queue, and
 * one item runs each time the debt is repaid. Work is refused only if too much of it waits.
 *
 * Each account has a bucket too, for all its addresses. And each address has a reserve for cancels and
 * reductions of live sessions, so that other clients of a shared address cannot block a trader's exit; one
 * account can use half of it.
 * Whether an order reduces is known once it is read: until then a bucket of attempts pays for it, so that
 * orders that open leave the reserve alone.
 *
 * The debt is bounded: an address that stops is served again after at most `MAX_DEBT_MS`.
 *
 * A burst may be used in one turn of the event loop, which would hold up everybody else. So callers that
 * can split their work stop at `isTurnUsed` and continue in the next turn.
 */

import { TokenBuckets } from "@perpgate/protocol/token-buckets";
import { LRUCache } from "lru-cache";
import type { LimitSettings } from "./limit-settings.js";
import type { Monotonic } from "./limits.js";

const MICROS_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;
/** Time to repay the largest debt. */
const MAX_DEBT_MS = 2_000;
const REFUND_MS = 1_000;
/** An account can use up one part in this many of the reserve and of the attempts of an address. */
const SHARES = 2;
/** The part of the burst that an address should use in one turn of the event loop. */
const TURN_SHARE = 0.1;

const MAX_SESSION_ADDRESSES = 100_000;
const SESSION_ADDRESS_MS = 600_000;

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

  charge(key: Key, micros: number): number {
    return this.buckets.charge(key, micros, this.maxDebt, this.monotonic());
  }

  refund(key: Key, micros: number): void {
    this.buckets.refund(key, micros);
  }

  debtMs(key: Key): number {
    return this.buckets.debtMs(key, this.monotonic());
  }
}

export interface CostMetrics {
  onCharged(micros: number): void;
  onHeld(): void;
  onParsed(bytes: number): void;
}

export class CostBudgets {
  private readonly addresses: Budget<string>;
  /** By address, and by address and account. */
  private readonly reserves: Budget<string>;
  /** As large as the reserves, with the same keys. */
  private readonly attempts: Budget<string>;
  private readonly accounts: Budget<number>;
  private readonly waiting = new Map<string, Waiter[]>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** What each address was charged in this turn of the event loop. */
  private turn = new Map<string, number>();
  private readonly turnMicros: number;
  private isOpen = true;
  private readonly withSession = new LRUCache<string, true>({
    // `max` would reserve room for all of them.
    maxSize: MAX_SESSION_ADDRESSES,
    sizeCalculation: () => 1,
    ttl: SESSION_ADDRESS_MS,
  });

  constructor(
    settings: LimitSettings,
    private readonly metrics: CostMetrics,
    private readonly monotonic: Monotonic = () => performance.now(),
  ) {
    const { costMsPerSecond, costBurstMs, reserveMsPerSecond, reserveBurstMs } = settings;
    const { accountCostMsPerSecond, accountCostBurstMs } = settings;
    this.turnMicros = costBurstMs * MICROS_PER_MS * TURN_SHARE;
    this.addresses = new Budget("cost", costMsPerSecond, costBurstMs, monotonic);
    this.reserves = new Budget("reserve", reserveMsPerSecond, reserveBurstMs, monotonic);
    this.attempts = new Budget("attempts", reserveMsPerSecond, reserveBurstMs, monotonic);
    this.accounts = new Budget("cost", accountCostMsPerSecond, accountCostBurstMs, monotonic);
  }

  /** `micros` by the table of costs. */
  charge(address: string, micros: number): void {
    this.metrics.onCharged(micros);
    this.addresses.charge(address, micros);
    if (this.turn.size === 0) setImmediate(this.endTurn);
    this.turn.set(address, (this.turn.get(address) ?? 0) + micros);
  }

  private readonly endTurn = (): void => {
    this.turn = new Map();
  };

  /** Whether the address has used its part of this turn of the event loop. */
  isTurnUsed(address: string): boolean {
    return this.isOpen && (this.turn.get(address) ?? 0) >= this.turnMicros;
  }

  /**
   * Charges the possible cost of work that has not begun. Returns a function that gives it back, for the
   * moment in which the real cost is charged. After `REFUND_MS` it gives nothing back: by then time has
   * repaid the charge, and refunds kept for later would add up to a second burst.
   */
  chargeInAdvance(address: string, micros: number): () => void {
    let taken = this.addresses.charge(address, micros);
    const untilMs = this.monotonic() + REFUND_MS;
    return () => {
      if (this.monotonic() > untilMs) return;
      this.addresses.refund(address, taken);
      taken = 0;
      this.reschedule(address);
    };
  }

  /** Counts client bytes that go to a parser, which work over budget must not reach. */
  noteParsed(bytes: number): void {
    this.metrics.onParsed(bytes);
  }

  chargeAccount(account: number, micros: number): void {
    this.accounts.charge(account, micros);
  }

  /** A live session was seen at the address. */
  noteSession(address: string): void {
    this.withSession.set(address, true);
  }

  /** Whether a live session was seen at the address in the last minutes. */
  hasSession(address: string): boolean {
    return this.withSession.has(address);
  }

  /** Milliseconds until the account's debt is repaid; 0 without debt. */
  accountDebtMs(account: number): number {
    return this.isOpen ? this.accounts.debtMs(account) : 0;
  }

  /** Whether new work of the address must wait: it is in debt, or older work waits. */
  mustWait(address: string): boolean {
    if (!this.isOpen) return false;
    return this.waiting.has(address) || this.addresses.debtMs(address) > 0;
  }

  /** Whether the address is in debt. */
  isInDebt(address: string): boolean {
    return this.isOpen && this.addresses.debtMs(address) > 0;
  }

  /** Takes from the address's reserve, or returns false while it or the account's part is used up. */
  takeReserve(address: string, account: number, micros: number): boolean {
    const { reserves } = this;
    if (reserves.debtMs(address) > 0 || reserves.debtMs(`${address} ${account}`) > 0) return false;
    this.chargeReserve(address, account, micros);
    return true;
  }

  /** Charges the reserve with what work that it has let pass turned out to cost. */
  chargeReserve(address: string, account: number, micros: number): void {
    this.reserves.charge(address, micros);
    this.reserves.charge(`${address} ${account}`, micros * SHARES);
  }

  /**
   * For an order of an address in debt, which may reduce: takes from the attempts of the address and of
   * the account there, and returns a function that lets the reserve pay instead, with what is added, for
   * an order that does. Returns undefined while the attempts or the reserve are used up.
   *
   * Many orders may have taken an attempt before the first is read. So the function returns false, and
   * the attempts have paid, if the reserve is used up by then.
   */
  takeAttempt(
    address: string,
    account: number,
    micros: number,
  ): ((addedMicros: number) => boolean) | undefined {
    const { attempts, reserves } = this;
    const own = `${address} ${account}`;
    if (reserves.debtMs(address) > 0 || reserves.debtMs(own) > 0) return undefined;
    if (attempts.debtMs(address) > 0 || attempts.debtMs(own) > 0) return undefined;
    const taken = attempts.charge(address, micros);
    const ownTaken = attempts.charge(own, micros * SHARES);
    let isExit = false;
    return (addedMicros) => {
      if (isExit) return true;
      isExit = this.takeReserve(address, account, micros + addedMicros);
      if (!isExit) return false;
      attempts.refund(address, taken);
      attempts.refund(own, ownTaken);
      return true;
    };
  }

  /** Items of the address that wait. */
  waitingCount(address: string): number {
    return this.waiting.get(address)?.length ?? 0;
  }

  /** Items of all addresses that wait. */
  get totalWaiting(): number {
    let count = 0;
    for (const queue of this.waiting.values()) count += queue.length;
    return count;
  }

  /**
   * Queues `run` until the debt of the address is repaid; returns a function that cancels the wait.
   *
   * Never calls `run` synchronously, even if the debt has been repaid since the caller read `mustWait`:
   * callers store the returned function first and use it as the sign that they wait. `run` must charge
   * what it starts, so that the next item waits for it.
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
    return () => this.cancelWait(address, waiter);
  }

  /** Runs everything that waits and never delays again: the server drains and refuses each request. */
  close(): void {
    this.isOpen = false;
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    const queues = [...this.waiting.values()];
    this.waiting.clear();
    for (const queue of queues) for (const { run } of queue) run();
  }

  private cancelWait(address: string, waiter: Waiter): void {
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

  /** After a refund the debt is repaid sooner. */
  private reschedule(address: string): void {
    if (!this.waiting.has(address)) return;
    clearTimeout(this.timers.get(address));
    this.timers.delete(address);
    this.schedule(address);
  }

  /** Runs each waiter at most once: one that queues again without a charge must not loop here. */
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
