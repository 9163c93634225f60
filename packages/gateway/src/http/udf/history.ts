/**
 * `GET /udf/history`: bars of a market, oldest first, as columns.
 *
 * A bar belongs to the answer if from ≤ time < to. `countback` counts more than `from`: that many bars
 * before `to` are sent, however far back they lie. Minutes without a trade have no bar. If there is none
 * in the period, `nextTime` is the newest one before it; without it there is nothing older.
 */

import type { CoreAccess } from "@perpgate/link";
import type { Candle, CandlesQuery, Resolution } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import { plainSymbol, resolutionNamed } from "./symbols.js";

/** As many as the list of candles has. */
const MAX_BARS = 1_000;
const INTEGER = /^-?[0-9]{1,15}$/;

export type FeedQuery = Readonly<Record<string, string>>;

interface HistoryQuery {
  readonly symbol: string;
  readonly resolution: Resolution;
  readonly fromMs: number;
  readonly toMs: number;
  readonly countback: number | undefined;
}

export function feedError(errmsg: string): object {
  return { s: "error", errmsg };
}

export async function history(link: CoreAccess, query: FeedQuery): Promise<object> {
  const asked = readQuery(query);
  if (typeof asked === "string") return feedError(asked);
  try {
    return await bars(link, asked);
  } catch (error) {
    if (error instanceof ApiError && error.code === "market_not_found") {
      return feedError("unknown_symbol");
    }
    throw error;
  }
}

/** The query, or what is wrong with it. */
function readQuery(query: FeedQuery): HistoryQuery | string {
  const { symbol = "", from = "0", to = "", countback } = query;
  const resolution = resolutionNamed(query.resolution ?? "");
  if (symbol === "") return "symbol is missing";
  if (resolution === undefined) return "resolution is not one of /udf/config";
  if (!INTEGER.test(from) || !INTEGER.test(to)) return "from and to must be Unix seconds";
  if (countback !== undefined && !INTEGER.test(countback)) return "countback must be an integer";
  const fromMs = millisOf(from);
  return {
    symbol: plainSymbol(symbol),
    resolution,
    fromMs,
    toMs: Math.max(millisOf(to), fromMs),
    countback: countback === undefined || Number(countback) <= 0 ? undefined : Number(countback),
  };
}

/** The library asks for times before 1970 where a chart reaches far back. */
function millisOf(seconds: string): number {
  return Math.min(Math.max(Number(seconds) * 1_000, 0), Number.MAX_SAFE_INTEGER);
}

async function bars(link: CoreAccess, asked: HistoryQuery): Promise<object> {
  const { symbol, resolution, fromMs, toMs, countback } = asked;
  const limit = Math.min(countback ?? MAX_BARS, MAX_BARS);
  const from = countback === undefined ? { from: fromMs } : {};
  const candles = await candlesOf(link, symbol, { resolution, limit, to: toMs, ...from });
  if (candles.length > 0) return columns(candles.reverse());
  const [older] = await candlesOf(link, symbol, { resolution, limit: 1, before: fromMs });
  return older === undefined ? { s: "no_data" } : { s: "no_data", nextTime: secondsOf(older) };
}

async function candlesOf(
  link: CoreAccess,
  symbol: string,
  page: Omit<CandlesQuery, "price">,
): Promise<Candle[]> {
  return (
    await link.request("getCandles", { params: { symbol }, query: { ...page, price: "trades" } })
  ).result;
}

function columns(candles: readonly Candle[]): object {
  return {
    s: "ok",
    t: candles.map(secondsOf),
    o: candles.map(({ open }) => open),
    h: candles.map(({ high }) => high),
    l: candles.map(({ low }) => low),
    c: candles.map(({ close }) => close),
    v: candles.map(({ volume }) => volume),
  };
}

function secondsOf({ time }: Candle): number {
  return time / 1_000;
}
