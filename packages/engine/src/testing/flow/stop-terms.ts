/**
 * What only stops have: the other trigger, a limit, and closing the whole position. Prices are near
 * the mark, so that they are reached, and limits sometimes just outside their band.
 */
import type { Random } from "@perpgate/protocol/random";
import {
  GOOD_TILL_CANCELED,
  IMMEDIATE_OR_CANCEL,
  type OrderExtras,
  type PlaceOrder,
  STOP_ORDER,
  STOP_TRIGGER,
  TAKE_PROFIT_TRIGGER,
  type TriggerCode,
} from "../../commands.js";
import { PLAIN_EXTRAS } from "../commands.js";
import type { Market, Position } from "../reference/state.js";

/** The extras of a stop that has no other terms than a plain one. */
export const STOP_EXTRAS: OrderExtras = { ...PLAIN_EXTRAS, timeInForce: IMMEDIATE_OR_CANCEL };

/** A part of the stops gets such terms; other orders stay as they are. */
export function extendStop(
  random: Random,
  order: PlaceOrder,
  market: Market,
  position: Position,
): PlaceOrder {
  if (order.type !== STOP_ORDER || !random.chance(0.6)) return order;
  const extras = order.extras ?? STOP_EXTRAS;
  const mark = Number(market.mark);
  const isTakeProfit = random.chance(0.5);
  const trigger: TriggerCode = isTakeProfit ? TAKE_PROFIT_TRIGGER : STOP_TRIGGER;
  // The same distance on the other side of the mark.
  const priceTicks = isTakeProfit ? Math.max(1, 2 * mark - order.priceTicks) : order.priceTicks;
  const changed = { ...order, priceTicks, extras: { ...extras, trigger } };
  const kind = random.weighted({ plain: 3, limit: 5, close: 5 });
  if (kind === "plain") return changed;
  if (kind === "limit") return withLimit(random, changed, market);
  // Mostly on the side that closes.
  const closing = position.lots > 0n ? -1 : 1;
  const side = position.lots !== 0n && random.chance(0.7) ? closing : order.side;
  const mirrored = side === order.side ? priceTicks : Math.max(1, 2 * mark - priceTicks);
  const isWrong = random.chance(0.03);
  return {
    ...changed,
    side,
    priceTicks: mirrored,
    reduceOnly: random.chance(0.1),
    marginMicros: random.chance(0.5) ? 0 : order.marginMicros,
    leverage: 1,
    extras: {
      ...changed.extras,
      sizeLots: isWrong ? 1 : 0,
      timeInForce: IMMEDIATE_OR_CANCEL,
      limitTicks: 0,
      closePosition: true,
    },
  };
}

function withLimit(
  random: Random,
  order: PlaceOrder & { readonly extras: OrderExtras },
  market: Market,
): PlaceOrder {
  const { priceTicks, side } = order;
  const band = Math.floor((priceTicks * market.config.bandPpm) / 1e6);
  const away = Math.floor(priceTicks * 0.004 * random.next());
  const kind = random.weighted({ near: 60, same: 15, worse: 10, edge: 6, outside: 4 });
  const sign = random.pick([1, -1]);
  const limitTicks = {
    near: priceTicks + side * away,
    same: priceTicks,
    worse: priceTicks - side * away,
    edge: priceTicks + sign * band,
    outside: priceTicks + sign * (band + 1),
  }[kind];
  const timeInForce = random.chance(0.8) ? GOOD_TILL_CANCELED : IMMEDIATE_OR_CANCEL;
  const expiresAtMs = timeInForce === GOOD_TILL_CANCELED ? order.extras.expiresAtMs : 0;
  const limit = Math.max(1, limitTicks);
  return { ...order, extras: { ...order.extras, limitTicks: limit, timeInForce, expiresAtMs } };
}
