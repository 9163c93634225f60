/**
 * "Account, position, order": what a position is worth at the mark and what it must be worth.
 */
import type { MarginTier } from "@perpgate/protocol/maintenance";
import type { Side } from "../../commands.js";
import { INDEX_STALE_MS, RATE_SCALE } from "../../config.js";
import { abs, ceilDiv, floorDiv, max, min } from "./integers.js";
import { type Market, marketOf, type Position, type State } from "./state.js";

export const MILLION = 1_000_000n;

/** u: what one lot is worth per tick. */
export function unitOf(market: Market): bigint {
  return BigInt(market.config.microsPerTickLot);
}

/** mark·u: what one lot is worth at the mark. */
export function lotAtMark(market: Market): bigint {
  return market.mark * unitOf(market);
}

export function closable(position: Position, side: Side): bigint {
  const opposite = side > 0 ? position.lots < 0n : position.lots > 0n;
  return opposite ? abs(position.lots) : 0n;
}

export function unrealised(market: Market, position: { lots: bigint; cost: bigint }): bigint {
  return position.lots * lotAtMark(market) - position.cost;
}

export function equityOf(
  market: Market,
  position: { lots: bigint; cost: bigint; margin: bigint },
): bigint {
  return position.margin + unrealised(market, position);
}

/** Σ over tiers of the part of the notional in that tier times its rate, rounded up once. */
export function maintenance(market: Market, notional: bigint): bigint {
  let total = 0n;
  let lower = 0n;
  const last = market.config.tiers.length - 1;
  market.config.tiers.forEach((tier, place) => {
    const upper = place === last ? max(notional, lower) : BigInt(tier.upToMicros);
    const part = max(0n, min(notional, upper) - lower);
    total += part * BigInt(tier.maintenancePpm);
    lower = upper;
  });
  return ceilDiv(total, MILLION);
}

export function maintenanceOf(market: Market, lots: bigint): bigint {
  return maintenance(market, abs(lots) * lotAtMark(market));
}

/** The first tier with notional ≤ upTo; beyond the last bound, the last. */
export function tierOf(market: Market, notional: bigint): MarginTier {
  const tiers = market.config.tiers;
  const tier = tiers.find((each) => notional <= BigInt(each.upToMicros)) ?? tiers.at(-1);
  if (tier === undefined) throw new Error("a market has tiers");
  return tier;
}

/** The largest upTo of a tier whose maxLeverage admits the leverage; 0 if none does. */
export function notionalBound(market: Market, leverage: bigint): bigint {
  const rows = market.config.tiers.filter((tier) => leverage <= BigInt(tier.maxLeverage));
  return BigInt(rows.at(-1)?.upToMicros ?? 0);
}

/** ⌊top tier bound / (mark·u)⌋ */
export function positionBound(market: Market): bigint {
  const top = market.config.tiers.at(-1)?.upToMicros ?? 0;
  return floorDiv(BigInt(top), lotAtMark(market));
}

/** Whether nothing happens in the market but cancels. */
export function isStopped({ status }: Market): boolean {
  return status !== "active" && status !== "reduceOnly";
}

/** Whether the market runs on a fresh index. */
export function isFresh(state: State, market: Market): boolean {
  if (isStopped(market)) return false;
  return market.index !== null && state.time - market.indexTime <= INDEX_STALE_MS;
}

/** Whether it takes part in liquidations, stops, funding and the marks of ticks. */
export function isLive(state: State, market: Market): boolean {
  return isFresh(state, market) && market.held === null && market.awaits === null;
}

/** What a position owes since it last settled: ⌈lots·(F − settled)⌉; negative: what it is due. */
export function owedFunding(market: Market, position: Position): bigint {
  const perLot = market.cumulativeFunding - position.settledFunding;
  return ceilDiv(position.lots * perLot, BigInt(RATE_SCALE));
}

/** Equity as an account sees it: what is owed is as good as paid. */
export function netEquityOf(market: Market, position: Position): bigint {
  return equityOf(market, position) - owedFunding(market, position);
}

/** "Phase 3": lots ≠ 0 and equity ≤ maintenance. */
export function isLiquidatable(state: State, position: Position): boolean {
  if (position.lots === 0n) return false;
  const market = marketOf(state, position.market);
  return netEquityOf(market, position) <= maintenanceOf(market, position.lots);
}
