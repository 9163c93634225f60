/**
 * "Index and mark", and the premium sample of "Tick", step 1. Prices with the suffix 16 are in
 * 1/65536 of a tick.
 */
import type { UpdateIndex } from "../../commands.js";
import {
  HOLD_CONFIRMATIONS,
  HOLD_MS,
  HOLD_NEAR_PPM,
  INDEX_GUARD_MS,
  MARK_EMA_MS,
  MAX_LEAD_MS,
  RATE_SCALE,
  TICK_MS,
} from "../../config.js";
import { bestAsk, bestBid, levels } from "./book.js";
import { emit } from "./end-events.js";
import { abs, ceilDiv, clamp, floorDiv, max, median, min, num, truncDiv } from "./integers.js";
import { isStopped, MILLION, unitOf } from "./margin.js";
import { type Refused, refused } from "./refusal.js";
import { type Market, type Order, rulesOf, type State } from "./state.js";

const ONE = 65_536n;
const HIGHEST_INDEX = 2 ** 33;

export function updateIndex(state: State, command: UpdateIndex): Refused | null {
  const market = state.markets[command.market];
  if (market === undefined) return refused("market_unknown");
  if (isStopped(market)) return refused("market_halted");
  const { indexTicks } = command;
  if (!Number.isSafeInteger(indexTicks) || indexTicks < 1 || indexTicks > HIGHEST_INDEX) {
    return refused("index_invalid");
  }
  const { slot } = command;
  if (!Number.isSafeInteger(slot) || slot <= market.indexSlot) {
    return refused("index_slot_passed", market.indexSlot);
  }
  const latest = Math.floor((state.lastTick + MAX_LEAD_MS) / TICK_MS);
  if (slot > latest) return refused("index_slot_ahead", latest);
  market.indexSlot = slot;
  if (!isAccepted(state, market, BigInt(indexTicks))) {
    emit(state, {
      kind: "IndexHeld",
      market: market.number,
      indexTicks,
      markTicks: num(market.mark),
    });
    return null;
  }
  if (market.awaits !== null && (slot + 1) * TICK_MS > market.awaits) market.awaits = null;
  market.index = BigInt(indexTicks);
  market.indexTime = slot * TICK_MS;
  recomputeMark(state, market);
  emit(state, {
    kind: "IndexUpdated",
    market: market.number,
    indexTicks,
    markTicks: num(market.mark),
  });
  return null;
}

/** "Index guard". */
function isAccepted(state: State, market: Market, index: bigint): boolean {
  const from = Math.floor((state.time - INDEX_GUARD_MS) / TICK_MS);
  market.accepted = market.accepted.filter((each) => Math.floor(each.time / TICK_MS) >= from);
  const recent = market.accepted.map((each) => each.index);
  if (recent.length === 0 && market.held !== null && market.index !== null) {
    recent.push(market.index);
  }
  const accept = (): boolean => {
    market.held = null;
    market.accepted.push({ index, time: state.time });
    return true;
  };
  const jump = BigInt(market.config.maxIndexJumpPpm);
  if (recent.every((each) => isWithin(each, index, jump))) return accept();
  const { held } = market;
  if (held === null || !isWithin(held.index, index, BigInt(HOLD_NEAR_PPM))) {
    market.held = { index, since: state.time, near: 0 };
    return false;
  }
  held.near += 1;
  if (held.near < HOLD_CONFIRMATIONS || state.time - held.since < HOLD_MS) return false;
  market.accepted = [];
  return accept();
}

function isWithin(from: bigint, index: bigint, ppm: bigint): boolean {
  return abs(index - from) * MILLION <= from * ppm;
}

export function recomputeMark(state: State, market: Market): void {
  if (market.index === null) throw new Error("no mark without an index");
  const { index } = market;
  const index16 = index * ONE;
  const bid = bestBid(market);
  const ask = bestAsk(market);
  const mid16 = midOf(state, market, index);
  const since = market.markTime === null ? 0 : state.time - market.markTime;
  const dt = min(BigInt(since), BigInt(MARK_EMA_MS));
  market.ema += truncDiv((mid16 - index16 - market.ema) * dt, BigInt(MARK_EMA_MS));
  market.markTime = state.time;

  const traded16 = median(bid ?? index, ask ?? index, market.last ?? index) * ONE;
  const mark16 = median(index16 + market.ema, traded16, index16);
  const rates = market.config.tiers.map((tier) => tier.maintenancePpm);
  const w = floorDiv(index * BigInt(Math.min(...rates)), 2_000_000n);
  const clamped = clamp(mark16, (index - w) * ONE, (index + w) * ONE);
  market.mark = max(1n, floorDiv(clamped, ONE));
}

/** What the average is moved toward, in 1/65536 of a tick. */
function midOf(state: State, market: Market, index: bigint): bigint {
  const bid = bestBid(market);
  const ask = bestAsk(market);
  if (bid === null || ask === null) return index * ONE;
  const mid16 = (bid + ask) * 32_768n;
  if (!rulesOf(state).midIsBounded) return mid16;
  const goal = BigInt(market.config.impactNotionalMicros);
  const far = floorDiv(index * 2n, 100n);
  const isDeep = (orders: readonly Order[]): boolean => {
    const near = [...levels(orders)].filter(({ price }) => abs(price - index) <= far);
    const notional = near.reduce((sum, { lots, price }) => sum + lots * price * unitOf(market), 0n);
    return notional >= goal;
  };
  if (!isDeep(market.bids) || !isDeep(market.asks)) return index * ONE;
  const bound = floorDiv(index * ONE, 100n);
  return clamp(mid16, index * ONE - bound, index * ONE + bound);
}

/** "Tick", step 1, one market with a fresh index. */
export function tickMark(state: State, market: Market): void {
  const before = market.mark;
  recomputeMark(state, market);
  if (market.mark !== before) {
    emit(state, { kind: "MarkChanged", market: market.number, markTicks: num(market.mark) });
  }
  samplePremium(state, market);
}

function samplePremium(state: State, market: Market): void {
  if (market.index === null) return;
  const index16 = market.index * ONE;
  const impactBid16 = impactPrice16(market, market.bids);
  const impactAsk16 = impactPrice16(market, market.asks);
  if (rulesOf(state).thinTicksCount) market.liveTicks += 1n;
  if (impactBid16 === null || impactAsk16 === null) return;
  const premium = max(0n, impactBid16 - index16) - max(0n, index16 - impactAsk16);
  market.premiumSum += truncDiv(premium * BigInt(RATE_SCALE), index16);
  market.premiumCount += 1n;
}

/** The average price of the impact notional on one side, or null if the side does not reach it. */
function impactPrice16(market: Market, orders: readonly Order[]): bigint | null {
  const unit = unitOf(market);
  const goal = BigInt(market.config.impactNotionalMicros);
  let notional = 0n;
  let lots = 0n;
  for (const level of levels(orders)) {
    const taken = min(level.lots, ceilDiv(goal - notional, level.price * unit));
    notional += taken * level.price * unit;
    lots += taken;
    if (notional >= goal) return floorDiv(notional * ONE, lots * unit);
  }
  return null;
}
