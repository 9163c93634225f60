/** Whom auto-deleveraging closes first: those with the most profit at the most leverage. */
import { mulDivCeil, mulDivFloor, mulExact } from "@perpgate/protocol/integers";
import type { Side } from "../commands.js";
import { equityOf } from "../margin/fill.js";
import type { Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";

const MAX_LEVERAGE_SCORE = 100_000;

/** Rows on the other side of a position that `side` closes, highest score first. */
export function deleveragingOrder(market: Market, side: Side): number[] {
  const { table } = market.positions;
  const rows: number[] = [];
  const scores = new Map<number, number>();
  for (let row = 0; row < table.rows; row++) {
    const lots = table.data[row * POSITION_WORDS + POSITION.LOTS]!;
    // A closing buy takes from longs, a closing sell from shorts.
    if (lots * side <= 0) continue;
    rows.push(row);
    scores.set(row, score(market, row));
  }
  return rows.sort(
    (a, b) =>
      scores.get(b)! - scores.get(a)! ||
      table.data[a * POSITION_WORDS]! - table.data[b * POSITION_WORDS]!,
  );
}

function score(market: Market, row: number): number {
  const { data } = market.positions.table;
  const at = row * POSITION_WORDS;
  const lots = data[at + POSITION.LOTS]!;
  const cost = data[at + POSITION.COST]!;
  const marked = mulExact(lots, market.mark * market.microsPerTickLot);
  const pnl = marked - cost;
  const scale = Math.max(1, Math.abs(cost));
  // Floor, also for a loss.
  const profit =
    pnl >= 0 ? mulDivFloor(pnl, 1_000_000, scale) : 0 - mulDivCeil(-pnl, 1_000_000, scale);
  const equity = Math.max(1, equityOf(market, row));
  return profit * Math.min(MAX_LEVERAGE_SCORE, mulDivFloor(100, Math.abs(marked), equity));
}
