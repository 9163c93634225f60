/** What a venue's state says, read into plain figures, so that checks compare before with after. */
import type { Engine } from "../../engine.js";
import type { Market } from "../../state/market.js";

export interface PositionView {
  readonly lots: number;
  readonly cost: number;
  readonly margin: number;
  readonly reserved: number;
  readonly funding: number;
}

export interface OrderView {
  readonly id: number;
  readonly market: number;
  readonly account: number;
  readonly side: number;
  readonly isStop: boolean;
  readonly price: number;
  readonly remaining: number;
  readonly leverage: number;
  readonly isReduceOnly: boolean;
  readonly rank: number;
}

export interface MarketView {
  readonly mark: number;
  readonly index: number;
  readonly halted: boolean;
  readonly backstopLots: number;
  readonly backstopCost: number;
  /** 0: none. */
  readonly bid: number;
  readonly ask: number;
  readonly positions: ReadonlyMap<number, PositionView>;
}

export interface View {
  readonly timeMs: number;
  readonly wallets: readonly number[];
  readonly markets: readonly MarketView[];
  readonly orders: readonly OrderView[];
  readonly fund: number;
  readonly fees: number;
  readonly fundingPool: number;
  readonly deposits: number;
}

export const FLAT: PositionView = { lots: 0, cost: 0, margin: 0, reserved: 0, funding: 0 };

export function readView({ state }: Engine): View {
  const wallets: number[] = [];
  for (let account = 0; account < state.accounts.rows; account++) {
    wallets.push(state.wallet(account));
  }
  const { fund, fees, fundingPool, deposits } = state.totals;
  const { timeMs } = state;
  const markets = state.markets.map(readMarket);
  return { timeMs, wallets, markets, orders: readOrders(state), fund, fees, fundingPool, deposits };
}

function readMarket(market: Market): MarketView {
  const { positions, bids, asks, mark, index, halted, backstopLots, backstopCost } = market;
  const views = new Map<number, PositionView>();
  for (const row of positions.allRows()) {
    views.set(positions.account(row), {
      lots: positions.lots(row),
      cost: positions.cost(row),
      margin: positions.margin(row),
      reserved: positions.reserved(row),
      funding: positions.funding(row),
    });
  }
  const bid = bids.count === 0 ? 0 : bids.ticksAt(0);
  const ask = asks.count === 0 ? 0 : asks.ticksAt(0);
  return { mark, index, halted, backstopLots, backstopCost, bid, ask, positions: views };
}

function readOrders({ orders }: Engine["state"]): OrderView[] {
  return orders.openRows().map((row) => ({
    id: orders.id(row),
    market: orders.market(row),
    account: orders.account(row),
    side: orders.side(row),
    isStop: orders.isStop(row),
    price: orders.price(row),
    remaining: orders.remaining(row),
    leverage: orders.leverage(row),
    isReduceOnly: orders.isReduceOnly(row),
    rank: orders.rank(row),
  }));
}
