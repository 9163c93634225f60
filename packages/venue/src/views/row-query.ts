/** Queries of lists, from the wire to the history. */

import { exitKindOf, parentOf, parseOrderId } from "@perpgate/protocol/core";
import type { TimeQuery } from "../history/history-reader.js";
import type { Place } from "../history/history-table.js";
import { MAX_ORDINAL } from "../history/keys.js";
import type { RowPageQuery } from "../history/row-pages.js";
import type { VenueSource } from "./venue-source.js";

/** `after` and `before` are ids, exclusive; from ≤ time < to. With `after` the oldest come first. */
export interface RowsQuery {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly symbol?: string | undefined;
}

/** The same where the time is the id. */
export interface TimesQuery {
  readonly limit: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** `usual` is the limit of a query without one. */
export function pageOf(query: RowsQuery, usual: number): RowPageQuery {
  const { limit = usual, after, before, from, to } = query;
  return {
    limit,
    after: after === undefined ? undefined : placeOf(after, MAX_ORDINAL),
    before: before === undefined ? undefined : placeOf(before, 0),
    fromMs: from,
    toMs: to,
  };
}

/** The same of orders, whose exits follow them: 7, 7.1, 7.2, 8. */
export function orderPageOf(query: RowsQuery, usual: number): RowPageQuery {
  const { after, before } = query;
  return {
    ...pageOf(query, usual),
    after: after === undefined ? undefined : placeOfOrder(after),
    before: before === undefined ? undefined : placeOfOrder(before),
  };
}

/** As `placeOf`, of the order alone. */
function placeOfOrder(text: string): Place {
  const id = parseOrderId(text);
  return id === undefined ? placeOf(text, 0) : { seq: parentOf(id), ordinal: exitKindOf(id) };
}

/** The limit of lists of the past that a query leaves out. */
const USUAL_LIMIT = 1_000;

/** Where the history's window begins, if rows before it belong to a page, which has so many rows; otherwise 0. */
export function edgeInPage({ history }: VenueSource, query: RowsQuery, rows: number): number {
  const { keptFrom, keptFromMs } = history.edge;
  const { limit, after, fromMs = 0 } = pageOf(query, USUAL_LIMIT);
  if (keptFrom === 1 || fromMs >= keptFromMs) return 0;
  const isReached = after === undefined ? rows < limit : after.seq + 1 < keptFrom;
  return isReached ? keptFrom : 0;
}

export function timesOf({ limit, after, before, from, to }: TimesQuery): TimeQuery {
  return { limit, afterMs: after, beforeMs: before, fromMs: from, toMs: to };
}

/**
 * Parses the id of a fill, a trade or a command. The id of a command alone excludes all of it. Numbers
 * that are too large are clamped, and come after everything.
 */
function placeOf(id: string, missing: number): Place {
  const [seq = "0", ordinal] = id.split("-");
  return {
    seq: Math.min(Number(seq), Number.MAX_SAFE_INTEGER),
    ordinal: ordinal === undefined ? missing : Math.min(Number(ordinal), MAX_ORDINAL),
  };
}

/** The markets to read: all, or the one of that symbol, if it is listed. */
export function marketNumbers({ listing }: VenueSource, symbol?: string): number[] {
  if (symbol === undefined) return listing.markets.map(({ number }) => number);
  const market = listing.named(symbol);
  return market === undefined ? [] : [market.number];
}
