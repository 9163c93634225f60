/** Checks of the terms that only stops have (docs/engine.md, "Stops"). */
import { mulDivFloor } from "@perpgate/protocol/integers";
import { type PlaceOrder, type Side, STOP_TRIGGER } from "../commands.js";
import { PPM } from "../config.js";
import { REFUSAL } from "../reasons.js";
import { refuse } from "../refuse.js";
import type { Market } from "../state/market.js";
import { NONE } from "../state/orders.js";
import { CLOSING_LIST } from "../state/positions.js";
import type { VenueState } from "../state/venue.js";
import { mayHaveToClose } from "./settle.js";

/** The limit of a stop must lie within the band of its price. */
export function mayLimit(
  s: VenueState,
  market: Market,
  price: number,
  limitTicks: number,
): boolean {
  if (limitTicks === 0) return true;
  const band = mulDivFloor(price, market.config.bandPpm, PPM);
  if (Math.abs(limitTicks - price) <= band) return true;
  return refuse(s, REFUSAL.limit_price_outside_band, price - band, price + band);
}

/** One for each side and trigger, where there is a position to close or an order that may open one. */
export function mayClosePosition(
  s: VenueState,
  market: Market,
  { side, extras }: PlaceOrder,
  row: number,
): boolean {
  const { orders } = s;
  if (row === NONE || !mayHaveToClose(s, market, row, side)) {
    return refuse(s, REFUSAL.reduce_only_without_position);
  }
  const other = closingOrder(s, market, row, side, extras?.trigger ?? STOP_TRIGGER);
  return other === NONE || refuse(s, REFUSAL.close_position_in_use, orders.id(other));
}

/** The account's order that closes its position for that side and trigger, or NONE. */
function closingOrder(
  { orders }: VenueState,
  { positions }: Market,
  row: number,
  side: Side,
  trigger: number,
): number {
  if (positions.closePositionOrders(row, side) === 0) return NONE;
  let order = positions.head(row, CLOSING_LIST);
  for (; order !== NONE; order = orders.nextOfKind(order)) {
    if (orders.side(order) !== side) continue;
    if (orders.extras.trigger(orders.extrasRow(order)) === trigger) break;
  }
  return order;
}
