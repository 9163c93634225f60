/**
 * Exits for a share of a flow's orders: near the order's price, so that they are reached, with and without
 * limits, now and then on the wrong side or with figures that no client should send.
 */
import type { Random } from "@perpgate/protocol/random";
import { LIMIT_ORDER, type OrderExits, type PlaceOrder, STOP_ORDER } from "../../commands.js";
import type { Market } from "../reference/state.js";

const NO_EXITS: OrderExits = {
  takeProfitTicks: 0,
  takeProfitLimitTicks: 0,
  stopLossTicks: 0,
  stopLossLimitTicks: 0,
};

export function withExits(random: Random, order: PlaceOrder, market: Market): PlaceOrder {
  const isFit = order.type !== STOP_ORDER && !order.reduceOnly;
  if (!random.chance(isFit ? 0.4 : 0.01)) return order;
  const base = order.type === LIMIT_ORDER ? order.priceTicks : Number(market.mark);
  const legs = random.weighted({ both: 6, takeProfit: 2, stopLoss: 2, none: 0.05 });
  const takeProfit = legs === "both" || legs === "takeProfit" ? order.side : 0;
  const stopLoss = legs === "both" || legs === "stopLoss" ? -order.side : 0;
  const [takeProfitTicks, takeProfitLimitTicks] = leg(random, base, takeProfit, market);
  const [stopLossTicks, stopLossLimitTicks] = leg(random, base, stopLoss, market);
  const exits = { takeProfitTicks, takeProfitLimitTicks, stopLossTicks, stopLossLimitTicks };
  return { ...order, exits: random.chance(0.02) ? spoiled(random, exits) : exits };
}

/** Price and limit; `away`: 1 above the base, −1 below it, 0 no exit. */
function leg(random: Random, base: number, away: number, market: Market): [number, number] {
  if (away === 0) return [0, 0];
  const isWrong = random.chance(0.02);
  const distance = base * random.pick([0.0005, 0.002, 0.01, 0.03]) * random.next();
  const far = random.chance(0.01) ? base * 10 : 0;
  const price = Math.max(1, Math.round(base + away * (isWrong ? -distance : distance + 1) + far));
  if (!random.chance(0.3)) return [price, 0];
  const band = Math.floor((price * market.config.bandPpm) / 1e6);
  const kind = random.weighted({ near: 20, same: 4, edge: 1, outside: 1 });
  const limit = {
    near: price + random.pick([1, -1]) * Math.round(price * 0.002 * random.next()),
    same: price,
    edge: price - band,
    outside: price + band + 1,
  }[kind];
  return [price, Math.max(1, limit)];
}

function spoiled(random: Random, exits: OrderExits): OrderExits {
  const changes: readonly Partial<OrderExits>[] = [
    NO_EXITS,
    { takeProfitTicks: random.pick([-1, 0.5, 2 ** 53]) },
    { stopLossLimitTicks: random.pick([-1, 0.5, 2 ** 53]) },
    { takeProfitTicks: 0, takeProfitLimitTicks: 7 },
  ];
  return { ...exits, ...random.pick(changes) };
}
