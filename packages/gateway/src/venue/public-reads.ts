/** What anybody may read: markets, blocks, the venue's time and status, its record of kept promises. */

import type {
  Block,
  Book,
  Candle,
  CandlesQuery,
  ClusterStatus,
  FundingPoint,
  FundingQuery,
  Honesty,
  Ticker,
  Trade,
  TradesQuery,
  VenueStatus,
  VenueTime,
} from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Venue, Views } from "@perpgate/venue";
import type { VenueLink } from "./venue-link.js";

export class PublicReads {
  constructor(
    private readonly link: VenueLink,
    private readonly clusterStatus: (() => ClusterStatus | undefined) | undefined,
  ) {}

  async book(symbol: string, depth: number): Promise<Book> {
    return listed(symbol, this.views.book(symbol, depth));
  }

  async ticker(symbol: string): Promise<Ticker> {
    return listed(symbol, this.views.ticker(symbol));
  }

  async tickers(): Promise<Ticker[]> {
    return this.views.tickers();
  }

  async trades(symbol: string, query: TradesQuery): Promise<Trade[]> {
    return listed(symbol, this.views.trades(symbol, query));
  }

  async candles(symbol: string, query: CandlesQuery): Promise<Candle[]> {
    return listed(symbol, this.views.candles(symbol, query.resolution, query));
  }

  async funding(symbol: string, query: FundingQuery): Promise<FundingPoint[]> {
    return listed(symbol, this.views.funding(symbol, query));
  }

  async block(number: number): Promise<Block> {
    const block = this.views.block(number);
    if (block === undefined) throw new ApiError("block_not_found", { number });
    return block;
  }

  async latestBlock(): Promise<Block> {
    return this.block(this.views.lastBlock ?? 0);
  }

  async honesty(): Promise<Honesty> {
    return this.link.promises().honesty();
  }

  async time(): Promise<VenueTime> {
    return { time: this.views.timeMs };
  }

  async status(): Promise<Omit<VenueStatus, "release">> {
    const cluster = this.clusterStatus?.();
    const status = { ...this.views.status(), ...this.conflict() };
    return cluster === undefined ? status : { ...status, cluster };
  }

  /** Why no checkpoint is signed any more; empty while nothing conflicts. */
  conflict(): Pick<VenueStatus, "conflict"> {
    return conflictOf(this.link.venue);
  }

  private get views(): Views {
    return this.link.views;
  }
}

export function conflictOf({ promises }: Pick<Venue, "promises">): Pick<VenueStatus, "conflict"> {
  const conflict = promises?.log.conflict ?? null;
  return conflict === null ? {} : { conflict };
}

function listed<T>(symbol: string, view: T | undefined): T {
  if (view === undefined) throw new ApiError("market_not_found", { symbol });
  return view;
}
