/**
 * Orders that are wrong on purpose.
 */

import type { Random } from "@perpgate/protocol/random";
import { MARKET_ORDER, type PlaceOrder } from "../../commands.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Signed } from "./traders.js";

const NEVER = 2 ** 53;

/** One field that a client should not send, or only rarely means. */
export function spoil(
  random: Random,
  venue: ReferenceVenue,
  order: PlaceOrder,
  session: Signed,
): PlaceOrder {
  const first = venue.state.markets[order.market]?.config.tiers[0]?.maxLeverage ?? 1;
  const changes: readonly Partial<PlaceOrder>[] = [
    { session: random.int(1, 50) },
    { key: session.oldKey },
    { key: "00" },
    { market: random.pick([-1, 17, 0.5]) },
    { market: random.int(0, venue.state.markets.length - 1) },
    { marginMicros: random.pick([0, -1, 1.5, NEVER]) },
    { leverage: random.pick([0, 2.5, -3]) },
    { leverage: first + 1 },
    { nonce: random.pick([-1, 0.5, NEVER]) },
    { priceTicks: random.pick([-1, 0.25, NEVER]) },
    { marginMicros: 10 ** 15 + 1, leverage: 1 },
    { priceTicks: 0 },
    { postOnly: true },
    { reduceOnly: true },
    { type: MARKET_ORDER, postOnly: true },
  ];
  return { ...order, ...random.pick(changes) };
}
