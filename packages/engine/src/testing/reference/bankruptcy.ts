/**
 * "Liquidating", step 2: the bankruptcy price, and what a fill does to the liquidated account.
 */
import { closingPart, reduce } from "./fills.js";
import { abs, ceilDiv, floorDiv, max } from "./integers.js";
import { unitOf } from "./margin.js";
import type { Market, Position } from "./state.js";

/** Where margin and PnL cancel out, on the tick that favours the position. A short's 0: no fill. */
export function bankruptcyPrice(market: Market, position: Position): bigint {
  const perTick = abs(position.lots) * unitOf(market);
  if (position.lots > 0n) return max(1n, ceilDiv(position.cost - position.margin, perTick));
  return floorDiv(abs(position.cost) + position.margin, perTick);
}

/** No fee, nothing is released: the PnL goes into the margin. */
export function closeLots(market: Market, position: Position, lots: bigint, price: bigint): bigint {
  const closing = closingPart(market, position, lots, price);
  reduce(position, closing, lots);
  position.margin += closing.pnl;
  if (position.margin < 0n) throw new Error(`margin ${position.margin} after a liquidation fill`);
  return closing.pnl;
}
