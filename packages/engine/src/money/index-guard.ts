/**
 * Index guard: an index far from those of the last 10 s is held back until later updates confirm it.
 * While one is held the market takes no orders, triggers and liquidates nothing, and its mark stays.
 */
import { mulDivFloor } from "@perpgate/protocol/integers";
import { HOLD_CONFIRMATIONS, HOLD_MS, HOLD_NEAR_PPM, PPM } from "../config.js";
import type { Market } from "../state/market.js";

/** Whether the index is accepted now; otherwise it is held back. Changes the guard. */
export function acceptIndex(market: Market, ticks: number, timeMs: number): boolean {
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
