/**
 * Index and mark. The mark is a median that neither the book alone nor the index alone can move far.
 * It is recomputed on index updates and ticks, and fixed within a command.
 */
import { mulDivFloor, mulDivTrunc } from "@perpgate/protocol/integers";
import type { UpdateIndex } from "../commands.js";
import {
  DEPTH_REACH_PPM,
  HOLD_CONFIRMATIONS,
  HOLD_MS,
  HOLD_NEAR_PPM,
  MARK_EMA_MS,
  MAX_LEAD_MS,
  MID_BOUND_PPM,
  PPM,
  TICK_MS,
} from "../config.js";
import { emit } from "../events/event-log.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Ladder } from "../state/ladder.js";
import type { Market } from "../state/market.js";
import type { VenueState } from "../state/venue.js";

/** Whether the index is accepted now; otherwise it is held back. Changes the guard. */
function acceptIndex(market: Market, ticks: number, timeMs: number): boolean {
  const { guard } = market;
  const isBack = isInRange(market, ticks, timeMs);
  if (isBack || isConfirmed(market, ticks, timeMs)) {
    // A confirmed jump is the price now: what was accepted before it says nothing any more.
    if (!isBack) guard.forget();
    if (guard.isHolding) guard.release();
    guard.remember(ticks, timeMs);
    return true;
  }
  if (guard.isHolding && isNear(guard.heldTicks, ticks, HOLD_NEAR_PPM)) guard.confirm();
  else guard.hold(ticks, timeMs);
  return false;
}

/** Near every accepted index of the last 10 s; during a hold near the last one, however old. */
function isInRange(market: Market, ticks: number, timeMs: number): boolean {
  const { guard } = market;
  const jump = market.config.maxIndexJumpPpm;
  let lowest = guard.lowest(timeMs);
  let highest = guard.highest(timeMs);
  if (highest === 0) {
    if (!guard.isHolding) return true;
    lowest = market.index;
    highest = market.index;
  }
  return isNear(lowest, ticks, jump) && isNear(highest, ticks, jump);
}

/** Whether this update completes the confirmation of the held index. */
function isConfirmed({ guard }: Market, ticks: number, timeMs: number): boolean {
  return (
    guard.isHolding &&
    isNear(guard.heldTicks, ticks, HOLD_NEAR_PPM) &&
    guard.confirmations + 1 >= HOLD_CONFIRMATIONS &&
    timeMs - guard.heldSinceMs >= HOLD_MS
  );
}

/** Whether `ticks` differs from `from` by no more than that part of `from`. */
function isNear(from: number, ticks: number, ppm: number): boolean {
  return Math.abs(ticks - from) <= mulDivFloor(from, ppm, PPM);
}

/** Fractions of a tick that the average is kept in. */
export const SUBTICKS = 65_536;

/** Book prices reach ten times the mark: with this bound even their mid × 65536 is exact. */
const MAX_INDEX_TICKS = 2 ** 33;

export function updateIndex(s: VenueState, command: UpdateIndex): boolean {
  const market = s.markets[command.market];
  if (market === undefined) return refuse(s, REFUSAL.market_unknown);
  if (market.halted) return refuse(s, REFUSAL.market_halted);
  const { indexTicks, slot } = command;
  if (!(Number.isSafeInteger(indexTicks) && indexTicks >= 1 && indexTicks <= MAX_INDEX_TICKS)) {
    return refuse(s, REFUSAL.index_invalid);
  }
  if (!(Number.isSafeInteger(slot) && slot > market.indexSlot)) {
    return refuse(s, REFUSAL.index_slot_passed, market.indexSlot);
  }
  const lastSlot = Math.floor((s.lastTickMs + MAX_LEAD_MS) / TICK_MS);
  if (slot > lastSlot) return refuse(s, REFUSAL.index_slot_ahead, lastSlot);
  s.focus = market.number;
  market.indexSlot = slot;
  if (!acceptIndex(market, indexTicks, s.timeMs)) {
    emit.IndexHeld(s.events, { market: market.number, indexTicks, markTicks: market.mark });
    return true;
  }
  const { awaitedIndexMs } = market;
  if (awaitedIndexMs !== 0 && slot >= Math.floor(awaitedIndexMs / TICK_MS)) {
    market.awaitedIndexMs = 0;
  }
  market.index = indexTicks;
  market.indexAtMs = slot * TICK_MS;
  recomputeMark(s, market);
  emit.IndexUpdated(s.events, { market: market.number, indexTicks, markTicks: market.mark });
  return true;
}

/** The market waits for an index of that time or later. */
export function awaitIndex(market: Market, timeMs: number): void {
  market.awaitedIndexMs = Math.max(1, timeMs);
}

/** After a start or a time jump: all markets do. */
export function awaitIndexes(s: VenueState, timeMs: number): void {
  for (const market of s.markets) awaitIndex(market, timeMs);
}

/** Recomputes and stores the mark; returns whether it changed. The index must be set. */
export function recomputeMark({ rules, timeMs }: VenueState, market: Market): boolean {
  const { index, markAtMs } = market;
  const bid = market.bids.count > 0 ? market.bids.bestTicks() : 0;
  const ask = market.asks.count > 0 ? market.asks.bestTicks() : 0;
  const elapsed = markAtMs === 0 ? 0 : Math.min(timeMs - markAtMs, MARK_EMA_MS);
  const before = market.ema;
  const distance = rules.boundsMid
    ? boundedDistance(market, bid, ask)
    : midDistance(index, bid, ask);
  const ema = before + mulDivTrunc(distance - before, elapsed, MARK_EMA_MS);
  market.ema = ema;
  market.markAtMs = timeMs;

  const touch = median(bid || index, ask || index, market.last || index);
  const subticks = median(index * SUBTICKS + ema, touch * SUBTICKS, index * SUBTICKS);
  const width = mulDivFloor(index, market.maintenance.lowestPpm, 2 * PPM);
  const low = (index - width) * SUBTICKS;
  const high = (index + width) * SUBTICKS;
  const clamped = Math.min(Math.max(subticks, low), high);
  const mark = Math.max(1, Math.floor(clamped / SUBTICKS));
  if (mark === market.mark) return false;
  market.mark = mark;
  return true;
}

/** From the index to the mid of the book, in subticks; 0 where a side is empty. */
function midDistance(index: number, bid: number, ask: number): number {
  return bid > 0 && ask > 0 ? (bid + ask - 2 * index) * (SUBTICKS / 2) : 0;
}

/**
 * As `midDistance`, at most 1 % of the index, and 0 where a side has less than the impact notional near
 * the index: an order that stands alone, however far away, must not move the mark.
 */
function boundedDistance(market: Market, bid: number, ask: number): number {
  if (!isDeep(market, market.bids) || !isDeep(market, market.asks)) return 0;
  const bound = mulDivFloor(market.index * SUBTICKS, MID_BOUND_PPM, PPM);
  return Math.min(Math.max(midDistance(market.index, bid, ask), -bound), bound);
}

/** Whether a side has the impact notional at prices near the index. */
function isDeep(market: Market, ladder: Ladder): boolean {
  const { index, microsPerTickLot } = market;
  const reach = mulDivFloor(index, DEPTH_REACH_PPM, PPM);
  let missing = market.config.impactNotionalMicros;
  for (let i = 0; i < ladder.count && missing > 0; i++) {
    const ticks = ladder.ticksAt(i);
    // Levels on the far side of the index come first, the near ones follow.
    const behind = ladder.sign * (index - ticks);
    if (behind > reach) return false;
    if (behind >= -reach) missing -= ladder.lotsAt(i) * ticks * microsPerTickLot;
  }
  return missing <= 0;
}

function median(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
