/**
 * Books to measure the packing on, each with one property of real order books.
 *
 * All are seeded and have 1,500 levels per side in ticks and lots, best price first. Sizes cover at
 * least three orders of magnitude, log-normally unless stated otherwise; gaps between prices are
 * exponential and widen away from the touch. The units are those of the venue's own markets
 * (BTCUSD: tick 0.1, lot 0.00001) unless stated otherwise.
 */

import type { BookSide, Level } from "../book-codec/index.js";
import { Random } from "../numbers/random.js";

export interface SampleBook {
  readonly name: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

const LEVELS_PER_SIDE = 1_500;

interface Market {
  readonly bestBid: number;
  /** Ticks from the i-th level, at `tick`, to the next one. */
  gap(random: Random, i: number, tick: number, direction: 1 | -1): number;
  lots(random: Random, i: number, tick: number): number;
}

const ROUND_AMOUNTS = [1, 2, 2.5, 5];
const ROUND_SIZES = [1, 2, 3, 5, 10];
const ROUND_PRICES = [10, 50, 100, 500];

/** Dollars to lots at a price: a tick times a lot is one micro-dollar on the venue's markets. */
const lotsFor = (dollars: number, tick: number): number => (dollars * 1e6) / tick;
const widening = (random: Random, i: number): number => 1 + random.exponential() * (0.5 + i / 150);

const MARKETS: Readonly<Record<string, () => Market>> = {
  "sizes from money": () => ({
    bestBid: 650_000,
    gap: widening,
    lots: (random, i, tick) => lotsFor(random.logNormal(3_000, 1.4) * (1 + i / 300), tick),
  }),
  "half of the money round": () => ({
    bestBid: 650_000,
    gap: widening,
    lots: (random, _, tick) => {
      const dollars = random.logNormal(3_000, 1.4);
      if (random.next() < 0.5) return lotsFor(dollars, tick);
      return lotsFor(random.pick(ROUND_AMOUNTS) * 10 ** Math.round(Math.log10(dollars)), tick);
    },
  }),
  "round sizes among others": () => ({
    bestBid: 650_000,
    gap: widening,
    lots: (random) => {
      const lots = random.logNormal(6_000, 1.5);
      const habit = random.next();
      if (habit < 0.35) return random.pick(ROUND_SIZES) * 10 ** Math.floor(Math.log10(lots));
      return habit < 0.7 ? Math.max(1, Math.round(lots / 100)) * 100 : lots;
    },
  }),
  // A lot of 0.001 BTC, as the largest venues have; a third of the levels hold a lot or few.
  "coarse lots": () => ({
    bestBid: 650_000,
    gap: (random, i) => 1 + random.exponential() * (0.3 + i / 200),
    lots: (random) => (random.next() < 0.35 ? 1 + random.below(4) : random.logNormal(25, 1.7)),
  }),
  "nearly every tick held": () => ({
    bestBid: 320_000,
    gap: (random) => (random.next() < 0.85 ? 1 : 1 + random.exponential() * 2),
    lots: (random, i) => random.logNormal(8_000, 1.5) * (1 + i / 500),
  }),
  "every tick held, whole coins": () => ({
    bestBid: 20_000,
    gap: () => 1,
    lots: (random, i) => random.logNormal(3_000, 1.4) * (1 + i / 300),
  }),
  // The tail reaches half of the price away, and many of its levels stand at round prices.
  "sparse tail, round prices": () => ({
    bestBid: 150_000,
    gap: (random, i, tick, direction) => {
      const free = 1 + random.exponential() * (1 + (i / 100) ** 2 / 6);
      if (random.next() >= 0.4) return free;
      const step = random.pick(ROUND_PRICES);
      return direction > 0 ? step - (tick % step) : tick % step || step;
    },
    lots: (random) =>
      random.next() < 0.3
        ? 1_000 * random.pick([1, 2, 5, 10, 20, 50, 100])
        : random.logNormal(20_000, 1.5),
  }),
  // Six makers with a size of their own on every n-th tick, and others in between.
  "makers' ladders": () => {
    const makers = new Random(20_261_115);
    const ladders = Array.from({ length: 6 }, () => ({
      lots: Math.floor(makers.logNormal(20_000, 1)),
      every: 1 + makers.below(12),
    }));
    return {
      bestBid: 650_000,
      gap: (random) => 1 + (random.next() < 0.3 ? random.below(5) : 0),
      lots: (random, _, tick) => {
        const own = ladders.filter(({ every }) => tick % every === 0);
        const sum = own.reduce((total, ladder) => total + ladder.lots, 0);
        return sum === 0 || random.next() < 0.3 ? sum + random.logNormal(4_000, 1.4) : sum;
      },
    };
  },
  // The hardest: every magnitude from $325 to $325,000 a level alike, and no digit repeats.
  "log-uniform, no habits": () => ({
    bestBid: 650_000,
    gap: (random) => 1 + random.exponential() * 3,
    lots: (random) => 500 * 1_000 ** random.next(),
  }),
};

export function sampleBooks(seed: number): SampleBook[] {
  return Object.entries(MARKETS).map(([name, market]) => ({
    name,
    bids: sampleSide(new Random(seed), market(), "bid"),
    asks: sampleSide(new Random(seed + 1), market(), "ask"),
  }));
}

function sampleSide(random: Random, market: Market, side: BookSide): Level[] {
  const direction = side === "bid" ? -1 : 1;
  const levels: Level[] = [];
  let tick = side === "bid" ? market.bestBid : market.bestBid + 1;
  for (let i = 0; i < LEVELS_PER_SIDE && tick > 0; i++) {
    levels.push([tick, Math.max(1, Math.floor(market.lots(random, i, tick)))]);
    tick += direction * Math.max(1, Math.floor(market.gap(random, i, tick, direction)));
  }
  return levels;
}
