/** Shapes of a venue that the search for expensive commands varies: numbers, each within its range. */
import type { Random } from "@perpgate/protocol/random";

/** The ranges: of accounts, of the orders that one may have in a market, and of markets. */
export function rangesOf(many: number, orders: number, markets: number) {
  return {
    /** Each with the same orders. */
    markets: [1, markets],
    /** Accounts that hold a position, offer lots at the price that takers meet, and have exits. */
    makers: [1, many],
    /** Of each of them: resting exits, reduce-only ones, reduce-only stops, those that close, entries. */
    exits: [0, orders],
    reduceOnly: [0, orders],
    stops: [0, orders],
    closing: [0, 2],
    entries: [0, orders],
    /** Orders that opened its position and have a pair of exits attached. */
    pairs: [0, Math.floor(orders / 3)],
    offers: [0, orders],
    /** Offers that have a pair of exits attached, which begin to cover lots as they fill. */
    guarded: [0, Math.floor(orders / 3)],
    /** Lots of the position, of each exit and of each offer. */
    held: [1, 2 * orders],
    exitLots: [1, 4],
    offered: [1, 2 * orders],
    /** Levels of offers and exits; 1: all at one price. */
    levels: [1, orders],
    /** Percent of the offers that have expired when the taker comes. */
    expired: [0, 100],
    /** Money of each maker in percent of what its orders need if nothing covers them. */
    funds: [0, 200],
    /** Leverage of the positions: at the highest a fall of the index makes them due. */
    leverage: [1, 50],
    /** The taker's position against its orders, the exits that cover it, its own orders on the way. */
    takerHeld: [0, 2 * orders],
    takerExits: [0, orders],
    takerOwn: [0, orders],
    /** Small bids below the market, which liquidations and stops meet. */
    wall: [0, many * 10],
    /** How far the index falls in the end, in thousandths. */
    fall: [0, 40],
    /** Operations of the batch, and which they are. */
    operations: [1, 50],
    mix: [0, 5],
  } as const;
}

type Ranges = ReturnType<typeof rangesOf>;
export type Shape = { readonly [K in keyof Ranges]: number };

const keysOf = (ranges: Ranges) => Object.keys(ranges) as (keyof Ranges)[];

export function randomShape(random: Random, ranges: Ranges): Shape {
  const shape = {} as Record<keyof Ranges, number>;
  for (const key of keysOf(ranges)) shape[key] = gene(random, ranges[key]);
  return shape;
}

/** Another shape near it: one to three of its numbers are changed. */
export function mutated(random: Random, shape: Shape, ranges: Ranges): Shape {
  const next: Record<keyof Ranges, number> = { ...shape };
  for (let changes = random.int(1, 3); changes > 0; changes--) {
    const key = random.pick(keysOf(ranges));
    const [least, most] = ranges[key];
    const step = Math.max(1, Math.round((most - least) / 8));
    const near = shape[key] + random.int(-step, step);
    next[key] = random.chance(0.3)
      ? gene(random, ranges[key])
      : Math.min(most, Math.max(least, near));
  }
  return next;
}

/** The ends of a range are tried often: that is where bounds are met. */
function gene(random: Random, [least, most]: readonly [number, number]): number {
  if (random.chance(0.25)) return least;
  if (random.chance(0.25)) return most;
  return random.int(least, most);
}
