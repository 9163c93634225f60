/** The mark at which a position of the engine becomes due for liquidation. */
import type { Market } from "@perpgate/engine/reading";
import { liquidationMark } from "@perpgate/protocol";

/** In ticks, or null where no mark ≥ 1 would do it. */
export function liquidationTicks(
  market: Market,
  lots: number,
  cost: number,
  margin: number,
): number | null {
  const held = { lots, costMicros: cost, marginMicros: margin };
  return liquidationMark(held, market.microsPerTickLot, (micros) => market.maintenance.of(micros));
}
