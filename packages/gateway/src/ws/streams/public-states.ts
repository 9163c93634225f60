/** The states of the public streams that the core has sent to this edge. */

import type { NoticeBodies } from "@perpgate/link";
import type { Resolution, Ticker } from "@perpgate/protocol";
import type { StreamPayload } from "@perpgate/protocol/operations";
import { BookCopy } from "./book-copy.js";
import type { LatestState } from "./latest-feed.js";

type Bodies = NoticeBodies;

/** What the edge has of one market. */
export class MarketState {
  book: BookCopy | undefined;
  ticker: Ticker | undefined;
  readonly candles = new Map<Resolution, StreamPayload<"candles">>();

  /** No-op for a change of a book that the edge does not have: it has just stopped following it. */
  change(delta: Bodies["bookDelta"]): void {
    this.book?.apply(delta);
  }

  begin(snapshot: Bodies["bookSnapshot"]): void {
    this.book = new BookCopy(snapshot);
  }
}

/** Tickers and status do not change alone with the time, of which a new reader gets that of now. */
export class AsOf {
  private latest: Bodies["asOf"] = { position: 0, time: 0, block: null };

  set(asOf: Bodies["asOf"]): void {
    this.latest = asOf;
  }

  ticker(ticker: Ticker): Ticker {
    return { ...ticker, time: Math.max(ticker.time, this.latest.time) };
  }

  status(status: Bodies["status"]["status"]): Bodies["status"]["status"] {
    const { position, time, block } = this.latest;
    return position < Number(status.position)
      ? status
      : { ...status, position: String(position), time, block };
  }
}

export function tickerState(market: MarketState, symbol: string, asOf: AsOf): LatestState {
  return {
    t: "ticker",
    s: symbol,
    isTimed: true,
    read: (): StreamPayload<"ticker"> | undefined =>
      market.ticker === undefined ? undefined : asOf.ticker(market.ticker),
    // A ticker that differs in its time alone is not news.
    fingerprint: (ticker) => JSON.stringify({ ...ticker, time: 0 }),
  };
}

export function candleState(
  market: MarketState,
  symbol: string,
  resolution: Resolution,
): LatestState {
  return {
    t: "candles",
    s: `${symbol}.${resolution}`,
    read: (): StreamPayload<"candles"> | undefined => market.candles.get(resolution),
    fingerprint: (candles) => JSON.stringify(candles),
  };
}

/** `read` returns what the core has sent. */
export function statusState(
  read: () => Bodies["status"]["status"] | undefined,
  asOf: AsOf,
  release: string,
): LatestState {
  return {
    t: "status",
    isTimed: true,
    read: (): StreamPayload<"status"> | undefined => {
      const status = read();
      return status === undefined ? undefined : { release, ...asOf.status(status) };
    },
    // Time, block and position change with every command.
    fingerprint: (status) => JSON.stringify({ ...status, time: 0, block: 0, position: 0 }),
  };
}
