/**
 * The rate limits of the gateway, by account or by client address, and their headers, as the IETF draft
 * "RateLimit header fields for HTTP" defines them:
 *
 *   RateLimit-Policy: "orders";q=200;w=2     the quota, and the seconds in which it refills
 *   RateLimit: "orders";r=187;t=1            what remains, and the seconds until it is full
 *   Retry-After: 1                           on a 429
 */

import type { Notes } from "@perpgate/link";
import { clientKeyOf } from "@perpgate/link";
import { ApiError } from "@perpgate/protocol/core";
import {
  type BucketRule,
  type BucketState,
  rateLimitedError,
  TokenBuckets,
} from "@perpgate/protocol/token-buckets";
import type { HeaderSink } from "../request.js";
import type { LimitSettings } from "./limit-settings.js";

/** Milliseconds of a clock that never steps back: a wall clock set back would lock clients out. */
export type Monotonic = () => number;

const defaultMonotonic: Monotonic = () => performance.now();

/** The error of an exceeded limit; sets `Retry-After` if there is a header sink. */
export function rateLimited(limit: string, retryAfterMs: number, header?: HeaderSink): ApiError {
  header?.("retry-after", retryAfter(retryAfterMs));
  return rateLimitedError(limit, retryAfterMs);
}

/** Whole seconds, at least one. */
function retryAfter(retryAfterMs: number): string {
  return String(Math.max(1, Math.ceil(retryAfterMs / 1_000)));
}

/** The headers of a limit that the core has counted. */
export function showCounted(
  { limit, quota, windowSeconds, remaining, fullInSeconds }: NonNullable<Notes["counted"]>,
  header: HeaderSink,
): void {
  header("ratelimit-policy", `"${limit}";q=${quota};w=${windowSeconds}`);
  header("ratelimit", `"${limit}";r=${remaining};t=${fullInSeconds}`);
}

/** The header of a limit by which the core has refused. */
export function showRetryAfter({ details }: ApiError, header: HeaderSink): void {
  const retryAfterMs = details?.retryAfterMs;
  if (typeof retryAfterMs === "number") header("retry-after", retryAfter(retryAfterMs));
}

export class KeyedLimit<Key extends string | number> {
  private readonly buckets: TokenBuckets<Key>;
  private readonly policy: string;

  constructor(
    private readonly rule: BucketRule,
    private readonly monotonic: Monotonic,
  ) {
    const { name, perSecond, burst } = rule;
    this.buckets = new TokenBuckets(rule);
    this.policy = `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
  }

  /** Counts one and sets the headers; throws `rate_limited` above the limit. */
  take(key: Key, header: HeaderSink): void {
    this.enforce(this.buckets.take(key, this.monotonic()), header);
  }

  /** Throws if `take` would, without counting; sets no headers otherwise. */
  refuseIfSpent(key: Key, header: HeaderSink): void {
    const state = this.buckets.peek(key, this.monotonic());
    if (!state.isAllowed) this.enforce(state, header);
  }

  /** Counts one that has already happened. */
  count(key: Key): void {
    this.buckets.take(key, this.monotonic());
  }

  /** Takes back what `count` has counted. */
  giveBack(key: Key): void {
    this.buckets.refund(key, 1);
  }

  private enforce(state: BucketState, header: HeaderSink): void {
    const { name } = this.rule;
    header("ratelimit-policy", this.policy);
    header("ratelimit", `"${name}";r=${state.remaining};t=${Math.ceil(state.fullInMs / 1_000)}`);
    if (!state.isAllowed) throw rateLimited(name, state.retryAfterMs, header);
  }
}

/**
 * By session: signatures that do not verify, past which none is checked. Each edge has its own: it bounds
 * the work of the process that checks. The core counts such requests as any other of the account.
 */
export function failedSignatureLimit(
  { failedSignaturesPerMinute, failedSignaturesBurst: burst }: LimitSettings,
  monotonic = defaultMonotonic,
): KeyedLimit<number> {
  const perSecond = failedSignaturesPerMinute / 60;
  return new KeyedLimit({ name: "failed-signatures", perSecond, burst }, monotonic);
}

/**
 * Limits per client address. A sign-in counts twice: each attempt against `sign-ins`, and each failed
 * attempt against the much lower `failed-sign-ins`, so that guessing is slow while many users behind one
 * address can sign in.
 */
export class AddressLimits {
  private readonly reads: KeyedLimit<string>;
  private readonly signIns: KeyedLimit<string>;
  private readonly failedSignIns: KeyedLimit<string>;
  private readonly attestors: KeyedLimit<string>;
  private readonly registrations: KeyedLimit<string>;

  constructor(settings: LimitSettings, monotonic = defaultMonotonic) {
    const { readsPerSecond, readsBurst, signInsPerSecond, failedSignInsPerMinute } = settings;
    const { attestorRequestsPerSecond, attestorRequestsBurst } = settings;
    const limit = (name: string, perSecond: number, burst: number) =>
      new KeyedLimit<string>({ name, perSecond, burst }, monotonic);
    this.reads = limit("reads", readsPerSecond, readsBurst);
    this.signIns = limit("sign-ins", signInsPerSecond, signInsPerSecond);
    const failedPerSecond = failedSignInsPerMinute / 60;
    this.failedSignIns = limit("failed-sign-ins", failedPerSecond, failedSignInsPerMinute);
    this.attestors = limit("attestors", attestorRequestsPerSecond, attestorRequestsBurst);
    const { addressDepositsPerMinute } = settings;
    const perSecond = addressDepositsPerMinute / 60;
    this.registrations = limit("address-deposits", perSecond, addressDepositsPerMinute);
  }

  /** A registration of a deposit, by any account. */
  takeRegistration(address: string, header: HeaderSink): void {
    this.registrations.take(clientKeyOf(address), header);
  }

  /** A request of an attestor, counted apart from the reads of its address. */
  takeAttestor(address: string, header: HeaderSink): void {
    this.attestors.take(clientKeyOf(address), header);
  }

  takeRead(address: string, header: HeaderSink): void {
    this.reads.take(clientKeyOf(address), header);
  }

  /** Runs a sign-in within the limits; an `ApiError` of the client's making counts as failed. */
  async signIn<T>(address: string, header: HeaderSink, attempt: () => Promise<T>): Promise<T> {
    const key = clientKeyOf(address);
    this.failedSignIns.refuseIfSpent(key, header);
    this.signIns.take(key, header);
    try {
      return await attempt();
    } catch (error) {
      // Neither a server error nor another limit says that the sign-in was invalid.
      const isFailed = error instanceof ApiError && error.status < 500;
      if (isFailed && error.code !== "rate_limited") this.failedSignIns.count(key);
      throw error;
    }
  }
}

/**
 * First sign-ins that the `dev` attestor credits, per client address: accounts are free, so limits per
 * account alone would let one client use up a bound that all clients share.
 */
export class NewAccountLimit {
  private readonly newAccounts: KeyedLimit<string>;

  constructor(
    { newAccountsPerMinute, newAccountsBurst: burst }: LimitSettings,
    monotonic = defaultMonotonic,
  ) {
    const perSecond = newAccountsPerMinute / 60;
    this.newAccounts = new KeyedLimit({ name: "new-accounts", perSecond, burst }, monotonic);
  }

  take(address: string, header: HeaderSink): void {
    this.newAccounts.take(clientKeyOf(address), header);
  }
}
