/** What a venue's state says of its first market, read into plain figures. */
import type { Engine } from "../../engine.js";

export interface OrderView {
  readonly id: number;
  readonly account: number;
  readonly side: number;
  readonly isStop: boolean;
  readonly price: number;
  readonly remaining: number;
}

interface PositionView {
  readonly lots: number;
  readonly cost: number;
  readonly margin: number;
}

export interface View {
  readonly mark: number;
  readonly positions: ReadonlyMap<number, PositionView>;
  readonly orders: readonly OrderView[];
}

export function readView({ state }: Engine): View {
  const { orders } = state;
  const { mark, positions } = state.markets[0]!;
  const views = new Map<number, PositionView>();
  for (const row of positions.allRows()) {
    views.set(positions.account(row), {
      lots: positions.lots(row),
      cost: positions.cost(row),
      margin: positions.margin(row),
    });
  }
  const open = orders.openRows().map((row) => ({
    id: orders.id(row),
    account: orders.account(row),
    side: orders.side(row),
    isStop: orders.isStop(row),
    price: orders.price(row),
    remaining: orders.remaining(row),
  }));
  return { mark, positions: views, orders: open };
}
