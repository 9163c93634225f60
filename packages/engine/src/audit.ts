/**
 * Recomputes from the rows everything that the engine keeps as running figures, and answers what
 * does not agree. Costs a pass over the whole state: for tests, checkpoints and verification, not
 * for the order path.
 */
import { STOP_ORDER } from "./commands.js";
import type { Engine } from "./engine.js";
import { MARKET, type Market } from "./state/market.js";
import { ORDER, ORDER_WORDS } from "./state/orders.js";
import { POSITION, POSITION_WORDS } from "./state/positions.js";
import { ACCOUNT_WORDS, GLOBAL, type VenueState } from "./state/venue.js";

export function audit(engine: Engine): string[] {
  const s = engine.state;
  const faults: string[] = [];
  const expect = (what: string, kept: number, counted: number): void => {
    if (kept !== counted) faults.push(`${what}: kept ${kept}, counted ${counted}`);
  };
  let wallets = 0;
  for (let account = 0; account < s.accounts.rows; account++) {
    const wallet = s.accounts.data[account * ACCOUNT_WORDS]!;
    if (wallet < 0) faults.push(`account ${account}: wallet ${wallet}`);
    wallets += wallet;
  }
  let margins = 0;
  let reserves = 0;
  let cost = 0;
  for (const market of s.markets) {
    const sums = auditMarket(s, market, faults);
    margins += sums.margins;
    reserves += sums.reserves;
    cost += sums.cost;
    expect(`${market.config.symbol} lots`, sums.lots, 0);
    expect(`${market.config.symbol} open interest`, market.get(MARKET.LONG_LOTS), sums.longLots);
  }
  expect("wallets", s.global(GLOBAL.WALLETS), wallets);
  expect("margins", s.global(GLOBAL.MARGINS), margins);
  expect("reserves", s.global(GLOBAL.RESERVES), reserves);
  expect("cost", s.global(GLOBAL.COST), cost);
  const fundAndFees = s.global(GLOBAL.FEES) + s.global(GLOBAL.FUND);
  expect("money", wallets + margins + reserves + fundAndFees, s.global(GLOBAL.DEPOSITS) + cost);
  return faults;
}

interface MarketSums {
  margins: number;
  reserves: number;
  cost: number;
  lots: number;
  longLots: number;
}

function auditMarket(s: VenueState, market: Market, faults: string[]): MarketSums {
  const name = market.config.symbol;
  const sums: MarketSums = {
    margins: 0,
    reserves: 0,
    cost: market.get(MARKET.BACKSTOP_COST),
    lots: market.get(MARKET.BACKSTOP_LOTS),
    longLots: 0,
  };
  const reserved = new Map<number, number>();
  const openCount = new Map<number, number>();
  const orders = s.orders.table;
  for (let row = 0; row < orders.rows; row++) {
    const at = row * ORDER_WORDS;
    if (orders.data[at] === 0 || orders.data[at + ORDER.MARKET] !== market.number) continue;
    const account = orders.data[at + ORDER.ACCOUNT]!;
    reserved.set(account, (reserved.get(account) ?? 0) + orders.data[at + ORDER.RESERVE]!);
    openCount.set(account, (openCount.get(account) ?? 0) + 1);
    const isStop = orders.data[at + ORDER.TYPE] === STOP_ORDER;
    if (isStop && orders.data[at + ORDER.RESERVE] !== 0) faults.push(`${name}: a stop reserves`);
  }
  const { table } = market.positions;
  for (let row = 0; row < table.rows; row++) {
    const at = row * POSITION_WORDS;
    const account = table.data[at]!;
    if (account === 0) continue;
    const lots = table.data[at + POSITION.LOTS]!;
    sums.margins += table.data[at + POSITION.MARGIN]!;
    sums.cost += table.data[at + POSITION.COST]!;
    sums.lots += lots;
    sums.longLots += Math.max(0, lots);
    sums.reserves += reserved.get(account) ?? 0;
    if (table.data[at + POSITION.RESERVED] !== (reserved.get(account) ?? 0)) {
      faults.push(`${name} account ${account}: reserves of its orders do not add up`);
    }
    if (table.data[at + POSITION.OPEN_ORDERS] !== (openCount.get(account) ?? 0)) {
      faults.push(`${name} account ${account}: open orders are miscounted`);
    }
    if (
      lots === 0 &&
      (table.data[at + POSITION.COST] !== 0 || table.data[at + POSITION.MARGIN] !== 0)
    ) {
      faults.push(`${name} account ${account}: flat, but not empty`);
    }
  }
  for (const ladder of [market.bids, market.asks, market.longStops, market.shortStops]) {
    if (!ladder.isConsistent()) faults.push(`${name}: a ladder disagrees with its orders`);
  }
  const { bids, asks } = market;
  if (bids.count > 0 && asks.count > 0 && bids.bestTicks() >= asks.bestTicks()) {
    faults.push(`${name}: the book is crossed`);
  }
  return sums;
}
