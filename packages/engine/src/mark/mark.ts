/**
 * The mark: a median that neither the book alone nor the index alone can move far. Recomputed on
 * index updates and ticks; fixed within a command.
 */
import { mulDivFloor, mulDivTrunc } from "@perpgate/protocol/integers";
import { MARK_EMA_MS, PPM } from "../config.js";
import { MARKET, type Market } from "../state/market.js";

/** Fractions of a tick that the average is kept in. */
export const SUBTICKS = 65_536;

/** Recomputes and stores the mark; answers whether it changed. The index must be set. */
export function remark(market: Market, timeMs: number): boolean {
  const index = market.get(MARKET.INDEX);
  const bid = market.bids.count > 0 ? market.bids.bestTicks() : 0;
  const ask = market.asks.count > 0 ? market.asks.bestTicks() : 0;
  const since = market.get(MARKET.MARK_AT);
  const elapsed = since === 0 ? 0 : Math.min(timeMs - since, MARK_EMA_MS);
  const mid = bid > 0 && ask > 0 ? (bid + ask) * (SUBTICKS / 2) : index * SUBTICKS;
  const before = market.get(MARKET.EMA);
  const ema = before + mulDivTrunc(mid - index * SUBTICKS - before, elapsed, MARK_EMA_MS);
  market.set(MARKET.EMA, ema);
  market.set(MARKET.MARK_AT, timeMs);

  const last = market.get(MARKET.LAST);
  const touch = median(bid || index, ask || index, last || index);
  const subticks = median(index * SUBTICKS + ema, touch * SUBTICKS, index * SUBTICKS);
  const width = mulDivFloor(index, market.maintenance.lowestPpm, 2 * PPM);
  const low = (index - width) * SUBTICKS;
  const high = (index + width) * SUBTICKS;
  const clamped = Math.min(Math.max(subticks, low), high);
  const mark = Math.max(1, Math.floor(clamped / SUBTICKS));
  if (mark === market.mark) return false;
  market.set(MARKET.MARK, mark);
  return true;
}

export function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
