/** Alice quotes in two markets and keeps a stop; Bob quotes too. For tests of events that end orders. */
import { BTC, ETH } from "./listing.js";
import { Venue } from "./venue.js";

/** `ids` are Alice's orders, ascending; `bobs` is his only one. */
export function quoting() {
  const venue = new Venue({ markets: [BTC, ETH] });
  const alice = venue.trader("alice", 10_000);
  const bob = venue.trader("bob", 10_000);
  const ids = [
    alice.buys("limit", { margin: 100, price: 3_900, market: ETH }),
    alice.buys("limit", { margin: 100, price: 49_000 }),
    alice.sells("limit", { margin: 100, price: 51_000 }),
    alice.buys("stop", { margin: 100, price: 52_000 }),
  ].map((answer) => answer.orderId);
  const bobs = bob.buys("limit", { margin: 100, price: 49_000 }).orderId;
  return { venue, alice, bob, ids, bobs };
}
