/** Position rows of a market in ascending account, the order in which everyone must see them. */
import type { Market } from "../state/market.js";
import { POSITION, POSITION_WORDS } from "../state/positions.js";

export function openPositions(market: Market): number[] {
  return rowsWhere(market, POSITION.LOTS);
}

export function rowsWithOrders(market: Market): number[] {
  return rowsWhere(market, POSITION.OPEN_ORDERS);
}

export function allRows(market: Market): number[] {
  return rowsWhere(market, POSITION.ACCOUNT);
}

function rowsWhere(market: Market, field: number): number[] {
  const { table } = market.positions;
  const { data } = table;
  const rows: number[] = [];
  for (let row = 0; row < table.rows; row++) {
    if (data[row * POSITION_WORDS + field] !== 0) rows.push(row);
  }
  return rows.sort((a, b) => data[a * POSITION_WORDS]! - data[b * POSITION_WORDS]!);
}
