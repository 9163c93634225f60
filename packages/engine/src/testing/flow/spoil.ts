/**
 * Orders that are wrong on purpose.
 */
import { MARKET_ORDER, type PlaceOrder } from "../../commands.js";
import type { ReferenceVenue } from "../reference/venue.js";
import type { Rng } from "./random.js";
import type { Signed } from "./traders.js";

const NEVER = 2 ** 53;

/** One field that a client should not send, or only rarely means. */
export function spoil(
  rng: Rng,
  venue: ReferenceVenue,
  order: PlaceOrder,
  session: Signed,
): PlaceOrder {
  const first = venue.state.markets[order.market]?.config.tiers[0]?.maxLeverage ?? 1;
  const changes: readonly Partial<PlaceOrder>[] = [
    { session: rng.int(1, 50) },
    { key: session.oldKey },
    { key: "00" },
    { market: rng.pick([-1, 17, 0.5]) },
    { market: rng.int(0, venue.state.markets.length - 1) },
    { marginMicros: rng.pick([0, -1, 1.5, NEVER]) },
    { leverage: rng.pick([0, 2.5, -3]) },
    { leverage: first + 1 },
    { nonce: rng.pick([-1, 0.5, NEVER]) },
    { priceTicks: rng.pick([-1, 0.25, NEVER]) },
    { marginMicros: 10 ** 15 + 1, leverage: 1 },
    { priceTicks: 0 },
    { postOnly: true },
    { reduceOnly: true },
    { type: MARKET_ORDER, postOnly: true },
  ];
  return { ...order, ...rng.pick(changes) };
}
