/** Commands about orders and margin, made of intents and the state that they find. */
import {
  type AmendOrder,
  type ChangeMargin,
  LIMIT_ORDER,
  MARKET_ORDER,
  type OrderExits,
  type OrderExtras,
  type OrderType,
  type PlaceOrder,
  STOP_ORDER,
} from "../../commands.js";
import type { Engine } from "../../engine.js";
import type { Kind } from "./intents.js";
import type { Amendment, ExitWish, Terms } from "./term-intents.js";

const TYPES: Readonly<Record<Kind, OrderType>> = {
  market: MARKET_ORDER,
  limit: LIMIT_ORDER,
  stop: STOP_ORDER,
};
const PPM = 1_000_000;

/** Who sends a command, and under which nonce. */
export interface Sender {
  readonly stampMs: number;
  readonly session: number;
  readonly key: string;
  readonly nonce: number;
}

export interface Wish {
  readonly market: number;
  readonly type: Kind;
  readonly leverage: number;
  /** Against the mark, in ppm; see `Intent`. */
  readonly offset: number;
  readonly reduceOnly: boolean;
  readonly side: 1 | -1;
  readonly marginMicros: number;
  readonly postOnly: boolean;
  readonly terms?: Terms | undefined;
  readonly exits?: ExitWish | undefined;
}

export function placement(engine: Engine, sender: Sender, wish: Wish): PlaceOrder {
  const { mark, config, microsPerTickLot } = engine.state.markets[wish.market]!;
  const { side, terms } = wish;
  // A stop waits beyond the mark, a take-profit before it; a limit with a positive offset is ready to
  // cross it.
  const distance = Math.abs(wish.offset) * (terms?.isTakeProfit === true ? -1 : 1);
  const offset = wish.type === "stop" ? distance : wish.offset;
  const price = Math.round(mark * (1 + (side * offset) / PPM));
  const leverage = Math.min(wish.leverage, config.tiers[0]!.maxLeverage);
  const plain: PlaceOrder = {
    kind: "PlaceOrder",
    ...sender,
    market: wish.market,
    side,
    type: TYPES[wish.type],
    marginMicros: wish.marginMicros,
    leverage,
    priceTicks: wish.type === "market" ? 0 : price,
    reduceOnly: wish.reduceOnly,
    postOnly: wish.postOnly && (terms === undefined || terms.timeInForce === 0),
  };
  const base = wish.type === "market" ? mark : price;
  const order = { ...plain, ...exitsOf(wish, base) };
  if (terms === undefined) return order;
  const bought = Math.floor(
    (wish.marginMicros * leverage) / (Math.max(1, mark) * microsPerTickLot),
  );
  const sizeLots = terms.isSized ? Math.max(1, bought) : 0;
  const marginMicros = terms.isSized && !terms.isBounded ? 0 : wish.marginMicros;
  return { ...order, marginMicros, extras: extrasOf(terms, sizeLots, price, sender.stampMs) };
}

function exitsOf({ side, exits }: Wish, base: number): { exits?: OrderExits } {
  if (exits === undefined) return {};
  const at = (ppm: number): number => (ppm === 0 ? 0 : Math.round(base * (1 + ppm / PPM)));
  const takeProfitTicks = at(side * exits.profit);
  const stopLossTicks = at(-side * exits.loss);
  const limitOf = (ticks: number): number =>
    exits.limit === null ? 0 : Math.round(ticks * (1 + exits.limit / PPM));
  return {
    exits: {
      takeProfitTicks,
      takeProfitLimitTicks: limitOf(takeProfitTicks),
      stopLossTicks,
      stopLossLimitTicks: limitOf(stopLossTicks),
    },
  };
}

function extrasOf(terms: Terms, sizeLots: number, price: number, nowMs: number): OrderExtras {
  const { timeInForce, selfTrade, isTakeProfit, limit, expiresInMs, name } = terms;
  return {
    sizeLots,
    timeInForce,
    expiresAtMs: expiresInMs === 0 ? 0 : nowMs + expiresInMs,
    clientOrderId: name === 0 ? "" : `order-${name}`,
    trigger: isTakeProfit ? 1 : 0,
    limitTicks: limit === null ? 0 : Math.round(price * (1 + limit / PPM)),
    closePosition: false,
    selfTrade,
    validUntilMs: 0,
  };
}

/** A stop that closes what the account has in the market, or will have. */
export function protection(
  engine: Engine,
  sender: Sender,
  wish: { readonly market: number; readonly side: 1 | -1; readonly offset: number },
): PlaceOrder {
  const isTakeProfit = wish.offset < 0;
  const terms: Terms = {
    ...{ isSized: false, isBounded: false, timeInForce: 1, selfTrade: 0 },
    ...{ isTakeProfit, limit: null, expiresInMs: 0, name: 0 },
  };
  const plain = { leverage: 1, reduceOnly: false, marginMicros: 0, postOnly: false };
  const order = placement(engine, sender, { ...wish, ...plain, type: "stop", terms });
  return { ...order, extras: { ...order.extras!, closePosition: true } };
}

/** Rows of the account's open orders. */
export function ownOrders(engine: Engine, account: number): number[] {
  const { orders } = engine.state;
  return orders.openRows().filter((row) => orders.account(row) === account);
}

/** Of an order of the account; without one, of an order that is not there. */
export function amendment(
  engine: Engine,
  sender: Sender,
  account: number,
  { nth, price, size, limit, expiresInMs }: Amendment,
): AmendOrder {
  const { orders, markets } = engine.state;
  const own = ownOrders(engine, account);
  const row = own[nth % Math.max(1, own.length)];
  const same = { clientOrderId: "", priceTicks: 0, sizeLots: 0, limitTicks: 0 };
  const none = { ...same, expiresAtMs: -1, validUntilMs: 0 };
  if (row === undefined) {
    return { kind: "AmendOrder", ...sender, ...none, market: 0, orderId: 1, sizeLots: 1 };
  }
  const market = orders.market(row);
  const { mark } = markets[market]!;
  const worse = (orders.side(row) * price) / PPM;
  return {
    kind: "AmendOrder",
    ...sender,
    ...none,
    market,
    orderId: orders.id(row),
    priceTicks: price === 0 ? 0 : Math.round(mark * (1 + worse)),
    sizeLots: Math.ceil((orders.remaining(row) * size) / 1_000),
    limitTicks: limit === 0 ? 0 : Math.round(orders.price(row) * (1 + limit / PPM)),
    expiresAtMs: expiresInMs > 0 ? sender.stampMs + expiresInMs : expiresInMs,
  };
}

export function marginChange(
  engine: Engine,
  sender: Sender,
  account: number,
  { market, part }: { readonly market: number; readonly part: number },
): ChangeMargin {
  const { positions } = engine.state.markets[market]!;
  const row = positions.rowOf(account);
  const held = row < 0 ? 0 : positions.margin(row);
  const money = part > 0 ? engine.state.wallet(account) : held;
  const amountMicros = Math.trunc((money * part) / 1_000) || Math.sign(part);
  return { kind: "ChangeMargin", ...sender, market, amountMicros };
}
