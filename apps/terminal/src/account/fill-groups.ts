/** Fills of one order as one row: their sum, and their average price. */

import type { Fill } from "@perpgate/protocol";

export interface FillGroup
  extends Pick<
    Fill,
    "symbol" | "side" | "kind" | "time" | "orderId" | "size" | "price" | "fee" | "realizedPnl"
  > {
  readonly key: string;
  readonly count: number;
  readonly liquidity: Fill["liquidity"] | "mixed";
}

/** The newest first, by the newest fill of each. A liquidation has no order: its fills of a block are one row. */
export function fillsByOrder(fills: readonly Fill[]): readonly FillGroup[] {
  const groups = new Map<string, Fill[]>();
  for (const fill of fills) {
    const key = fill.orderId ?? `${fill.kind} ${fill.symbol} ${fill.block}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [fill]);
    else known.push(fill);
  }
  return [...groups].map(([key, some]) => groupOf(key, some));
}

export function single(fill: Fill): FillGroup {
  return { ...fill, key: fill.id, count: 1 };
}

function groupOf(key: string, fills: readonly Fill[]): FillGroup {
  const [newest] = fills;
  if (newest === undefined) throw new Error("a group without a fill");
  const { symbol, side, kind, time, orderId } = newest;
  const size = sumOf(fills, (fill) => fill.size, 1e8);
  const value = fills.reduce((sum, fill) => sum + fill.price * fill.size, 0);
  return {
    key,
    symbol,
    side,
    kind,
    time,
    orderId,
    count: fills.length,
    liquidity: fills.every((fill) => fill.liquidity === newest.liquidity)
      ? newest.liquidity
      : "mixed",
    size,
    price: fills.length === 1 ? newest.price : value / size,
    fee: sumOf(fills, (fill) => fill.fee, 1e6),
    realizedPnl: sumOf(fills, (fill) => fill.realizedPnl, 1e6),
  };
}

/** In whole units, without the noise of fractions. */
function sumOf(fills: readonly Fill[], of: (fill: Fill) => number, units: number): number {
  return fills.reduce((sum, fill) => sum + Math.round(of(fill) * units), 0) / units;
}
