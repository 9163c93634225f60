/**
 * Every limit of the gateway in one place: what counts, by whom, and how much of it.
 *
 * Account limits are asked by whoever knows the account, address limits before anything is known.
 * A sign-in counts twice over: each attempt against the rate of good ones, and each that failed
 * against a much lower one, so that guessing is slow while a busy office signs in undisturbed.
 */

import { ApiError } from "@perpgate/protocol";
import type { HeaderSink } from "../request.js";
import { clientKeyOf } from "./client-key.js";
import { announceLimit, policyOf } from "./limit-headers.js";
import type { LimitSettings } from "./limit-settings.js";
import { type BucketRule, TokenBuckets } from "./token-buckets.js";

/** Milliseconds that never go back: a wall clock set back would lock everyone out. */
export type Monotonic = () => number;

/** One limit: its buckets and what its headers say. */
export class Limit<Key extends string | number> {
  private readonly buckets: TokenBuckets<Key>;
  private readonly policy: string;

  constructor(
    private readonly rule: BucketRule,
    private readonly monotonic: Monotonic,
  ) {
    this.buckets = new TokenBuckets(rule);
    this.policy = policyOf(rule);
  }

  /** Counts one and writes the headers, or refuses. */
  take(key: Key, header: HeaderSink): void {
    announceLimit(this.rule, this.policy, this.buckets.take(key, this.monotonic()), header);
  }

  /** Refuses if the next one would be, counting nothing; silent otherwise. */
  refuseIfSpent(key: Key, header: HeaderSink): void {
    const state = this.buckets.peek(key, this.monotonic());
    if (!state.isAllowed) announceLimit(this.rule, this.policy, state, header);
  }

  /** Counts one that has happened already. */
  count(key: Key): void {
    this.buckets.take(key, this.monotonic());
  }
}

/** What is counted by account number. */
export class AccountLimits {
  readonly orders: Limit<number>;
  readonly cancels: Limit<number>;
  readonly deposits: Limit<number>;
  /** What is read with a token. */
  readonly reads: Limit<number>;

  constructor(settings: LimitSettings, monotonic: Monotonic = () => performance.now()) {
    const { ordersPerSecond, ordersBurst, cancelsPerSecond, cancelsBurst } = settings;
    this.orders = new Limit(
      { name: "orders", perSecond: ordersPerSecond, burst: ordersBurst },
      monotonic,
    );
    this.cancels = new Limit(
      { name: "cancels", perSecond: cancelsPerSecond, burst: cancelsBurst },
      monotonic,
    );
    this.deposits = new Limit(perMinute("deposits", settings.depositsPerMinute), monotonic);
    const { accountReadsPerSecond, accountReadsBurst } = settings;
    this.reads = new Limit(
      { name: "account-reads", perSecond: accountReadsPerSecond, burst: accountReadsBurst },
      monotonic,
    );
  }
}

/** What is counted by client address. */
export class AddressLimits {
  private readonly reads: Limit<string>;
  private readonly signIns: Limit<string>;
  private readonly failedSignIns: Limit<string>;
  private readonly attestors: Limit<string>;

  constructor(settings: LimitSettings, monotonic: Monotonic = () => performance.now()) {
    const { readsPerSecond, readsBurst, signInsPerSecond, failedSignInsPerMinute } = settings;
    this.reads = new Limit(
      { name: "reads", perSecond: readsPerSecond, burst: readsBurst },
      monotonic,
    );
    this.signIns = new Limit(
      { name: "sign-ins", perSecond: signInsPerSecond, burst: signInsPerSecond },
      monotonic,
    );
    this.failedSignIns = new Limit(perMinute("failed-sign-ins", failedSignInsPerMinute), monotonic);
    const { attestorRequestsPerSecond, attestorRequestsBurst } = settings;
    this.attestors = new Limit(
      { name: "attestors", perSecond: attestorRequestsPerSecond, burst: attestorRequestsBurst },
      monotonic,
    );
  }

  /** A request of an attestor: readers of the same address must not use up what it needs. */
  takeAttestor(address: string, header: HeaderSink): void {
    this.attestors.take(clientKeyOf(address), header);
  }

  takeRead(address: string, header: HeaderSink): void {
    this.reads.take(clientKeyOf(address), header);
  }

  /** Runs a sign-in if the address may try one; a refusal of it counts as a failed one. */
  async signIn<T>(address: string, header: HeaderSink, attempt: () => Promise<T>): Promise<T> {
    const key = clientKeyOf(address);
    this.failedSignIns.refuseIfSpent(key, header);
    this.signIns.take(key, header);
    try {
      return await attempt();
    } catch (error) {
      // What failed on this side is not held against whoever tried.
      // Nor is another limit: the sign-in itself was good.
      const isFailed = error instanceof ApiError && error.status < 500;
      if (isFailed && error.code !== "rate_limited") this.failedSignIns.count(key);
      throw error;
    }
  }
}

function perMinute(name: string, count: number): BucketRule {
  return { name, perSecond: count / 60, burst: count };
}
