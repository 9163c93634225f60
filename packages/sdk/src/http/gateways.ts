/**
 * The addresses of a venue's gateways: which of them is in use, and which is next when that one is lost.
 *
 * The first choice is the gateway that answers its probes first. Later the round trips are measured
 * again, and a gateway that is clearly nearer is used instead. A gateway that a request or a socket
 * reports as lost is left immediately and avoided for some seconds. Sessions, nonces and stream positions
 * are valid at all gateways; `position` lets a client read its own writes at the next one.
 *
 * A venue may be set up again at the same addresses: positions of another log are forgotten.
 */

import { fetchWithin, POSITION_HEADER } from "@perpgate/protocol";
import { getHealth, getReadiness } from "@perpgate/protocol/operations";
import { ConnectionError } from "../errors.js";
import type { HeadersLike } from "./limit-headers.js";

export interface ResponseLike {
  readonly status: number;
  readonly headers: HeadersLike;
  text(): Promise<string>;
}

export interface RequestLike {
  readonly method: string;
  /** Responses are state at one moment and must not be cached. */
  readonly cache: "no-store";
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The part of `fetch` that the client uses. */
export type FetchLike = (url: string, init: RequestLike) => Promise<ResponseLike>;

/** A gateway of the venue, as this client knows it. */
export interface GatewayState {
  readonly url: string;
  /** Of the last measurement; undefined before it, or if there was no answer. */
  readonly roundTripMs: number | undefined;
  readonly isInUse: boolean;
}

interface Known {
  readonly url: string;
  roundTripMs: number | undefined;
  /** By `performance.now()`. */
  lostAt: number | undefined;
  /** The highest log position that its responses have shown. */
  position: number;
}

const MEASURE_EVERY_MS = 30_000;
const PROBES = 2;
/** Long enough for a long way to the gateway: without its round trip, other limits would be too short. */
const PROBE_TIMEOUT_MS = 5_000;
/** For the other probes of the first choice once one has failed. */
const OTHERS_MS = 2_500;
const READY_TIMEOUT_MS = 1_000;
/** A longer one is rather a stall of the gateway, and limits do not grow with it. */
const MAX_ROUND_TRIP_MS = 1_500;
/** For a request whose connection is opened first. */
export const CONNECT_ROUND_TRIPS = 8;
/** A lost gateway is avoided for this long while there is another. */
const AVOIDED_MS = 5_000;
/** Without an answer for this long, the gateway is asked whether it is alive; it has as long again. */
const SILENT_MS = 500;
/** A gateway with a long way to it gets this many round trips instead. */
const SILENT_ROUND_TRIPS = 4;
/** A gateway is clearly nearer below this share of the round trip, and by this many milliseconds. */
const NEARER_SHARE = 0.7;
const NEARER_MS = 5;

export class Gateways {
  private readonly known: readonly Known[];
  private inUse: Known;
  private readonly watchers = new Set<(url: string) => void>();
  private readonly checks = new Map<string, Promise<boolean>>();
  private measuredAt: number | undefined;
  private choosing: Promise<void> | undefined;
  private seenPosition = 0;
  /** How often the program has chosen the gateway. */
  private uses = 0;

  /** The first address is used until one is chosen. */
  constructor(
    urls: readonly string[],
    private readonly fetch: FetchLike,
  ) {
    const [first, ...others] = urls.map((url) => ({
      url,
      roundTripMs: undefined,
      lostAt: undefined,
      position: 0,
    }));
    if (first === undefined) throw new TypeError("name the address of at least one gateway");
    this.known = [first, ...others];
    this.inUse = first;
  }

  /** The address in use. */
  get url(): string {
    return this.inUse.url;
  }

  get areSeveral(): boolean {
    return this.known.length > 1;
  }

  /** The address, unless it is the only one. */
  oneOfSeveral(url: string): string | undefined {
    return this.areSeveral ? url : undefined;
  }

  /** The highest log position that a response or a frame has shown; noted for several gateways only. */
  get position(): number {
    return this.seenPosition;
  }

  states(): readonly GatewayState[] {
    return this.known.map((one) => ({
      url: one.url,
      roundTripMs: one.roundTripMs,
      isInUse: one === this.inUse,
    }));
  }

  onChange(callback: (url: string) => void): () => void {
    this.watchers.add(callback);
    return () => this.watchers.delete(callback);
  }

  notePosition(position: number): void {
    if (this.areSeveral && position > this.seenPosition && Number.isSafeInteger(position)) {
      this.seenPosition = position;
    }
  }

  /** The highest position that responses of this gateway have shown. */
  positionOf(url: string): number {
    return this.named(url)?.position ?? 0;
  }

  /** A response has shown the position. */
  shown(url: string, position: number): void {
    this.notePosition(position);
    const found = this.named(url);
    if (found !== undefined && position > found.position) found.position = position;
  }

  /**
   * The gateway lags behind a position that it had shown before the request was sent: it has another log
   * now, and what was seen of the earlier one says nothing.
   */
  restarted(position: number): void {
    if (!this.areSeveral) return;
    for (const one of this.known) one.position = 0;
    this.seenPosition = position;
  }

  /** Undefined, or a promise of the first choice. Later calls measure again now and then. */
  chosen(): Promise<void> | undefined {
    if (!this.areSeveral) return undefined;
    const now = performance.now();
    if (this.measuredAt === undefined) {
      this.measuredAt = now;
      this.choosing = this.chooseFirst().finally(() => {
        this.choosing = undefined;
      });
    } else if (now - this.measuredAt > MEASURE_EVERY_MS) {
      this.measuredAt = now;
      void this.measure();
    }
    return this.choosing;
  }

  /** Uses another of the addresses, until it is lost or another one is clearly nearer. */
  use(url: string): void {
    const found = this.named(url);
    if (found === undefined) throw new TypeError(`${url} is none of the client's addresses`);
    this.measuredAt ??= performance.now();
    this.uses++;
    this.change(found);
  }

  answered(url: string): void {
    const found = this.named(url);
    if (found !== undefined) found.lostAt = undefined;
  }

  /** Leaves the gateway if it is in use. Returns whether the one in use now is not known as lost. */
  lost(url: string): boolean {
    if (!this.areSeveral) return false;
    const found = this.named(url);
    if (found !== undefined) found.lostAt = performance.now();
    if (this.inUse === found) this.change(this.next());
    return !isAvoided(this.inUse);
  }

  /** Whether it was lost some seconds ago and has not answered since. */
  isLost(url: string): boolean {
    return this.known.some((one) => one.url === url && isAvoided(one));
  }

  /** The one in use, else the nearest, that is neither lost nor one of these. */
  nextBut(urls: ReadonlySet<string>): string | undefined {
    const others = this.known.filter((one) => !urls.has(one.url) && !isAvoided(one));
    if (others.includes(this.inUse)) return this.url;
    return others.sort(byRoundTrip)[0]?.url;
  }

  /**
   * Runs a request. While it has no answer, the gateway is asked whether it is alive; if not, the
   * signal of the request is aborted with a `ConnectionError`.
   */
  async whileAlive<T>(
    url: string,
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    if (!this.areSeveral) return run(signal);
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setInterval(
      async () => {
        if (!(await this.isAlive(url))) controller.abort(new ConnectionError(`${url} is silent`));
      },
      this.patienceMs(url, SILENT_MS),
    );
    try {
      return await run(controller.signal);
    } finally {
      clearInterval(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** A signal that is aborted with the given one, or when another gateway is used, until `end`. */
  untilChange(signal: AbortSignal | undefined): {
    readonly signal: AbortSignal | undefined;
    end(): void;
  } {
    if (!this.areSeveral) return { signal, end: () => undefined };
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const stopFollowing = this.onChange(abort);
    return {
      signal: controller.signal,
      end: () => {
        signal?.removeEventListener("abort", abort);
        stopFollowing();
      },
    };
  }

  /** Whether it can serve requests now. */
  isReady(url: string): Promise<boolean> {
    const limitMs = this.patienceMs(url, READY_TIMEOUT_MS, CONNECT_ROUND_TRIPS);
    return this.ask(url + getReadiness.path, limitMs).then(
      () => true,
      () => false,
    );
  }

  /** One check at a time for all requests that wait. */
  private isAlive(url: string): Promise<boolean> {
    let check = this.checks.get(url);
    if (check === undefined) {
      check = this.ask(url + getHealth.path, this.patienceMs(url, SILENT_MS))
        .then(
          () => true,
          () => false,
        )
        .finally(() => this.checks.delete(url));
      this.checks.set(url, check);
    }
    return check;
  }

  /** How long to wait for a gateway: this long, or this many round trips if that is longer. */
  patienceMs(url: string, leastMs: number, roundTrips = SILENT_ROUND_TRIPS): number {
    const roundTripMs = Math.min(MAX_ROUND_TRIP_MS, this.named(url)?.roundTripMs ?? 0);
    return Math.max(leastMs, roundTrips * roundTripMs);
  }

  private named(url: string): Known | undefined {
    return this.known.find((one) => one.url === url);
  }

  /** All are probed at the same time, so the first that answers all its probes is the nearest. */
  private async chooseFirst(): Promise<void> {
    const { uses } = this;
    const probes = this.known.map((one) => this.probe(one));
    // Once one has failed, the others do not have all their time: a silent one must not hold up the first
    // request.
    const hasFailed = Promise.all(probes).then(
      () => undefined,
      () => new Promise<undefined>((resolve) => setTimeout(resolve, OTHERS_MS)),
    );
    try {
      const nearest = await Promise.race([Promise.any(probes), hasFailed]);
      if (nearest !== undefined && this.uses === uses) this.change(nearest);
    } catch {
      // None is ready: the first address is used, and its errors are reported.
    }
  }

  private async measure(): Promise<void> {
    const results = await Promise.allSettled(this.known.map((one) => this.probe(one)));
    const ready = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const [nearest] = ready.sort(byRoundTrip);
    // Without any answer it is rather this side's network that is down.
    if (nearest === undefined) return;
    if (!ready.includes(this.inUse)) this.lost(this.inUse.url);
    else if (isClearlyNearer(nearest, this.inUse)) this.change(nearest);
  }

  private async probe(one: Known): Promise<Known> {
    let fastest = Number.POSITIVE_INFINITY;
    try {
      // The first request of a connection also opens it.
      for (let count = 0; count < PROBES; count++) {
        const begun = performance.now();
        const { headers } = await this.ask(one.url + getReadiness.path, PROBE_TIMEOUT_MS);
        fastest = Math.min(fastest, performance.now() - begun);
        one.position = Math.max(one.position, positionIn(headers));
      }
    } catch (error) {
      one.roundTripMs = undefined;
      throw error;
    }
    one.roundTripMs = fastest;
    one.lostAt = undefined;
    return one;
  }

  /** @throws unless the response is 200. */
  private async ask(url: string, timeoutMs: number): Promise<Pick<ResponseLike, "headers">> {
    const { status, headers } = await this.get(url, timeoutMs);
    if (status !== 200) throw new ConnectionError(`${url} returned ${status}`);
    return { headers };
  }

  private get(
    url: string,
    timeoutMs: number,
    headers: Record<string, string> = {},
  ): Promise<Pick<ResponseLike, "status" | "headers">> {
    const limits = { timeoutMs, maxBytes: Number.POSITIVE_INFINITY };
    const init = { method: "GET", cache: "no-store", headers } as const;
    return fetchWithin(limits, (signal) => this.fetch(url, { ...init, signal }));
  }

  /** The nearest of the others that are not lost; if all are, the one that was lost first. */
  private next(): Known {
    const others = this.known.filter((one) => one !== this.inUse);
    const [nearest] = others.filter((one) => !isAvoided(one)).sort(byRoundTrip);
    const [oldest = this.inUse] = others.sort((a, b) => (a.lostAt ?? 0) - (b.lostAt ?? 0));
    return nearest ?? oldest;
  }

  private change(to: Known): void {
    if (to === this.inUse) return;
    this.inUse = to;
    for (const watcher of [...this.watchers]) {
      // A watcher of an earlier change may have caused a later one.
      if (this.inUse === to) watcher(to.url);
    }
  }
}

/** The log position in a response; 0 without one. */
export function positionIn(headers: ResponseLike["headers"]): number {
  const position = Number(headers.get(POSITION_HEADER));
  return Number.isSafeInteger(position) ? position : 0;
}

function isAvoided({ lostAt }: Known): boolean {
  return lostAt !== undefined && performance.now() - lostAt < AVOIDED_MS;
}

function byRoundTrip(a: Known, b: Known): number {
  return roundTripOf(a) - roundTripOf(b);
}

function roundTripOf({ roundTripMs }: Known): number {
  return roundTripMs ?? Number.MAX_VALUE;
}

function isClearlyNearer(one: Known, other: Known): boolean {
  const limit = Math.min(roundTripOf(other) * NEARER_SHARE, roundTripOf(other) - NEARER_MS);
  return roundTripOf(one) < limit;
}
