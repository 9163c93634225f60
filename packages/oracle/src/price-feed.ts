/**
 * One feed: a few URLs, and where in their JSON the price of each market is.
 *
 * A refresh requests each URL once, even if it serves several markets, and not again while its request is
 * in flight, by the time-out at the latest: a URL that hangs does not delay the others. A failure (no
 * answer, another status, too long, not JSON, no number) leaves the markets of that URL unchanged and is
 * reported to `onProblem`. A price is a positive number, or a decimal in a string; nothing else is
 * accepted.
 */

import { fetchWithin } from "@perpgate/protocol/core";

interface FeedMarket {
  readonly url: string;
  /** JSON pointer to the price. */
  readonly price: string;
  /** JSON pointer to its time, in Unix milliseconds, seconds or RFC 3339; default: time of arrival. */
  readonly time?: string;
}

export interface FeedSettings {
  readonly name: string;
  /** Market symbol → where its price is. */
  readonly markets: Readonly<Record<string, FeedMarket>>;
}

export interface FeedPrice {
  readonly price: number;
  /** Time of the price, by `FeedClocks.now`. */
  readonly observedAtMs: number;
}

export interface FeedClocks {
  /** Unix milliseconds that never go back: the time of prices. */
  readonly now: () => number;
  /** The machine's clock: compared with the time in an answer to compute its age. */
  readonly wall: () => number;
}

interface KnownPrice extends FeedPrice {
  /** Time of the price as the feed states it, if it does. */
  readonly statedMs: number | undefined;
}

export interface FeedProblem {
  readonly feed: string;
  readonly url: string;
  readonly problem: string;
}

const MAX_BODY_BYTES = 1_048_576;
/** With a zone: without one it would be read in the zone of this machine. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
const DECIMAL = /^[0-9]{1,15}(?:\.[0-9]{1,18})?$/;
/** Smaller times are in seconds, larger ones in milliseconds. */
const SECONDS_BELOW = 1e11;

export class PriceFeed {
  readonly name: string;
  private readonly prices = new Map<string, KnownPrice>();
  private readonly symbolsByUrl = new Map<string, string[]>();
  /** Requests in flight, by URL. */
  private readonly asked = new Map<string, Promise<void>>();

  constructor(
    private readonly settings: FeedSettings,
    private readonly timeoutMs: number,
    private readonly clocks: FeedClocks,
    private readonly onProblem: (problem: FeedProblem) => void,
  ) {
    this.name = settings.name;
    for (const [symbol, { url }] of Object.entries(settings.markets)) {
      this.symbolsByUrl.set(url, [...(this.symbolsByUrl.get(url) ?? []), symbol]);
    }
  }

  latest(symbol: string): FeedPrice | undefined {
    return this.prices.get(symbol);
  }

  /** Requests every URL that has no request in flight; never rejects. */
  async refresh(stop: AbortSignal): Promise<void> {
    for (const [url, symbols] of this.symbolsByUrl) {
      if (this.asked.has(url)) continue;
      const answered = this.ask(url, symbols, stop).finally(() => this.asked.delete(url));
      this.asked.set(url, answered);
    }
    await this.settled();
  }

  /** Resolves when the requests that are in flight now have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.asked.values());
  }

  private async ask(url: string, symbols: readonly string[], stop: AbortSignal): Promise<void> {
    try {
      const document = await this.fetchJson(url, stop);
      for (const symbol of symbols) this.take(symbol, document);
    } catch (error) {
      if (!stop.aborted) this.report(url, error);
    }
  }

  private async fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
    const limits = { timeoutMs: this.timeoutMs, maxBytes: MAX_BODY_BYTES, signal };
    const { text } = await fetchWithin(limits, async (signal) => {
      const response = await fetch(url, { signal, headers: { accept: "application/json" } });
      if (response.status === 200) return response;
      await response.body?.cancel();
      throw new Error(`answered ${response.status}`);
    });
    return JSON.parse(text);
  }

  private take(symbol: string, document: unknown): void {
    const market = this.settings.markets[symbol];
    if (market === undefined) return;
    try {
      const price = priceIn(valueAtPointer(document, market.price), market.price);
      const statedMs =
        market.time === undefined
          ? undefined
          : timeIn(valueAtPointer(document, market.time), market.time);
      this.prices.set(symbol, { price, statedMs, observedAtMs: this.heldAt(symbol, statedMs) });
    } catch (error) {
      this.report(market.url, error);
    }
  }

  /**
   * Time of a price by our clock. A price with an unchanged stated time keeps its time: it must not
   * become newer because one of our clocks was set, or by a rounding between the two.
   */
  private heldAt(symbol: string, statedMs: number | undefined): number {
    const nowMs = this.clocks.now();
    if (statedMs === undefined) return nowMs;
    const known = this.prices.get(symbol);
    if (known?.statedMs === statedMs) return known.observedAtMs;
    return nowMs - Math.max(0, this.clocks.wall() - statedMs);
  }

  private report(url: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.onProblem({ feed: this.name, url, problem });
  }
}

function priceIn(value: unknown, pointer: string): number {
  const price = typeof value === "string" && DECIMAL.test(value) ? Number(value) : value;
  if (typeof price !== "number" || !Number.isFinite(price) || price <= 0) {
    throw new Error(`${pointer} is not a price: ${describe(value)}`);
  }
  return price;
}

function timeIn(value: unknown, pointer: string): number {
  const time = typeof value === "string" && RFC_3339.test(value) ? Date.parse(value) : value;
  if (typeof time !== "number" || !Number.isFinite(time) || time <= 0) {
    throw new Error(`${pointer} is not a time: ${describe(value)}`);
  }
  return time < SECONDS_BELOW ? time * 1_000 : time;
}

function describe(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}

/** The value, or undefined if the document has none at that path. */
export function valueAtPointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split("/").slice(1)) {
    const key = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}
