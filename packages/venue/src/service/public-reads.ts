/** What anybody may read: markets, blocks, the venue's time and status, its record of kept promises. */

import { type ReadinessProbe, type RequestHandlers, refuseUnready } from "@perpgate/link";
import type { Block, ClusterStatus, VenueStatus } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import type { Promises } from "../receipts/promises.js";
import type { Venue } from "../venue.js";
import type { PastLists } from "./past-lists.js";

type PublicReads = Pick<
  RequestHandlers,
  | "getMarkets"
  | "getBook"
  | "getTicker"
  | "getTickers"
  | "getTrades"
  | "getCandles"
  | "getFunding"
  | "getBlock"
  | "getLatestBlock"
  | "getHonesty"
  | "getTime"
  | "getStatus"
  | "getReadiness"
>;

export function publicReads(
  venue: Venue,
  past: PastLists,
  /** How this core sees the replicated log, if there is one. */
  clusterStatus: () => ClusterStatus | undefined = () => undefined,
  readiness: readonly ReadinessProbe[] = [],
): PublicReads {
  const { views } = venue;
  const blockNumbered = async (number: number): Promise<Block> => {
    const block = await views.read(() => views.block(number));
    if (block === undefined) throw new ApiError("block_not_found", { number });
    return block;
  };
  return {
    getMarkets: () => ({ result: views.markets() }),
    getBook: ({ params: { symbol }, query }) => ({
      result: listed(symbol, views.book(symbol, query.depth)),
    }),
    getTicker: ({ params: { symbol } }) => ({ result: listed(symbol, views.ticker(symbol)) }),
    getTickers: () => ({ result: views.tickers() }),
    getTrades: async ({ params: { symbol }, query }, notes) => {
      await venue.history.reached();
      const trades = listed(symbol, await past.trades(symbol, query, notes));
      notes.rows += trades.length;
      return { result: trades };
    },
    getCandles: async ({ params: { symbol }, query }, notes) => {
      const { resolution, price } = query;
      const read = await views.read(() => views.candles(symbol, resolution, query, price));
      const candles = listed(symbol, read);
      notes.rows += candles.length;
      return { result: candles };
    },
    getFunding: async ({ params: { symbol }, query }, notes) => {
      const funding = listed(symbol, await views.read(() => views.funding(symbol, query)));
      notes.rows += funding.length;
      return { result: funding };
    },
    getBlock: async ({ params: { number } }) => ({ result: await blockNumbered(Number(number)) }),
    getLatestBlock: async () => ({ result: await blockNumbered(views.lastBlock ?? 0) }),
    getHonesty: () => ({ result: heldPromises(venue).honesty() }),
    getTime: () => ({ result: { time: views.timeMs } }),
    getStatus: () => {
      const cluster = clusterStatus();
      const { historyBefore } = views;
      const window = historyBefore === undefined ? {} : { historyBefore };
      const status = { ...views.status(), ...window, ...conflictOf(venue) };
      return { status: cluster === undefined ? status : { ...status, cluster } };
    },
    getReadiness: () => {
      refuseUnready(readiness);
      return { conflict: conflictOf(venue).conflict };
    },
  };
}

/** Why no checkpoint is signed any more; empty while nothing conflicts. */
export function conflictOf({ promises }: Pick<Venue, "promises">): Pick<VenueStatus, "conflict"> {
  const conflict = promises?.log.conflict ?? null;
  return conflict === null ? {} : { conflict };
}

/** @throws ApiError `no_transparency_log` if the venue has none. */
export function heldPromises({ promises }: Pick<Venue, "promises">): Promises {
  if (promises === null) throw new ApiError("no_transparency_log", {});
  return promises;
}

function listed<T>(symbol: string, view: T | undefined): T {
  if (view === undefined) throw new ApiError("market_not_found", { symbol });
  return view;
}
