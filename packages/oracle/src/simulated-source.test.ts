import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimulatedIndexSource, type SimulatedMarket } from "./simulated-source.js";

const btc: SimulatedMarket = { symbol: "BTCUSD", startTicks: 650_000, annualVolatility: 0.5 };
const eth: SimulatedMarket = { symbol: "ETHUSD", startTicks: 320_000, annualVolatility: 0.65 };
const SECOND = 1_000;
const YEAR = 365 * 24 * 3_600_000;

function walk(markets: readonly SimulatedMarket[], seed: number, times: readonly number[]) {
  const source = new SimulatedIndexSource(markets, seed);
  return times.map((time) => source.observe(time));
}

describe("simulated index", () => {
  test("first observation: the start price, at the time it was asked", () => {
    const source = new SimulatedIndexSource([btc, eth], 1);
    expect(source.observe(5_000)).toEqual([
      { symbol: "BTCUSD", priceTicks: 650_000, observedAtMs: 5_000 },
      { symbol: "ETHUSD", priceTicks: 320_000, observedAtMs: 5_000 },
    ]);
  });

  test("continued from a price: the walk goes on from there, the others from their start", () => {
    const source = new SimulatedIndexSource([btc, eth], 1);
    source.continueFrom("BTCUSD", 701_234);
    source.continueFrom("NOPEUSD", 1);
    expect(source.observe(5_000).map(({ priceTicks }) => priceTicks)).toEqual([701_234, 320_000]);
    const [next] = source.observe(6_000);
    expect(next?.priceTicks).not.toBe(701_234);
    expect(Math.abs((next?.priceTicks ?? 0) / 701_234 - 1)).toBeLessThan(0.01);
  });

  test("same seed, same times: the same prices; another seed: others", () => {
    const times = Array.from({ length: 200 }, (_, i) => i * SECOND);
    expect(walk([btc], 7, times)).toEqual(walk([btc], 7, times));
    expect(walk([btc], 7, times)).not.toEqual(walk([btc], 8, times));
  });

  test("a market listed with another: neither changes the other's walk", () => {
    const times = Array.from({ length: 50 }, (_, i) => i * SECOND);
    const alone = walk([btc], 3, times).map(([first]) => first);
    const together = walk([btc, eth], 3, times).map(([first]) => first);
    expect(together).toEqual(alone);
  });

  test("volatility 0: the price never moves, however long it is asked", () => {
    const still = { ...btc, annualVolatility: 0 };
    for (const [observation] of walk([still], 1, [0, SECOND, YEAR, 10 * YEAR])) {
      expect(observation?.priceTicks).toBe(650_000);
    }
  });

  test("volatility: a year of steps spreads the log return as configured", () => {
    const returns = Array.from({ length: 2_000 }, (_, seed) => {
      const last = walk([{ ...btc, startTicks: 1e9 }], seed, [0, YEAR / 2, YEAR]).at(-1)?.[0];
      return Math.log((last?.priceTicks ?? 0) / 1e9);
    });
    const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
    const variance = returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / returns.length;
    expect(Math.sqrt(variance)).toBeCloseTo(0.5, 1);
    expect(mean).toBeCloseTo(-0.125, 1);
  });

  test("any times, also backwards: whole ticks of at least one, time never falls", () => {
    const moment = fc.integer({ min: 0, max: 100 * YEAR });
    fc.assert(
      fc.property(
        fc.array(moment),
        fc.integer(),
        fc.integer({ min: 1, max: 1e9 }),
        (times, seed, start) => {
          let before = 0;
          const wild = { symbol: "WILDUSD", startTicks: start, annualVolatility: 10 };
          for (const [observation] of walk([wild], seed, times)) {
            expect(Number.isSafeInteger(observation?.priceTicks)).toBe(true);
            expect(observation?.priceTicks).toBeGreaterThanOrEqual(1);
            expect(observation?.observedAtMs).toBeGreaterThanOrEqual(before);
            before = observation?.observedAtMs ?? before;
          }
        },
      ),
    );
  });
});

describe("gusts", () => {
  const MINUTE = 60 * SECOND;
  const quarters = (untilMs: number) => Array.from({ length: untilMs / 250 }, (_, i) => i * 250);
  const ticksIn = (markets: readonly SimulatedMarket[], seed: number, times: readonly number[]) => {
    const source = new SimulatedIndexSource(markets, seed, 4);
    return times.map((time) => source.observe(time).map(({ priceTicks }) => priceTicks));
  };

  test("the markets of the testnet: within minutes one moves farther than 50× bears", () => {
    const lively = [
      { ...btc, annualVolatility: 0.8 },
      { ...eth, annualVolatility: 1 },
    ];
    const farthest = (seed: number, withinMs: number) => {
      const seen = ticksIn(lively, seed, quarters(withinMs));
      return Math.max(
        ...seen.flatMap(([b, e]) => [(b ?? 0) / btc.startTicks, (e ?? 0) / eth.startTicks]),
        ...seen.flatMap(([b, e]) => [btc.startTicks / (b ?? 0), eth.startTicks / (e ?? 0)]),
      );
    };
    const seeds = Array.from({ length: 50 }, (_, i) => i + 1);
    // Margin 2 % and maintenance 1 % leave 1 %. The default seed is 1.
    expect(farthest(1, 3 * MINUTE)).toBeGreaterThan(1.0102);
    const moved = seeds.filter((seed) => farthest(seed, 7 * MINUTE) > 1.0102);
    expect(moved.length).toBeGreaterThan(45);
  });

  test("about as many as asked for, both ways, and each comes back to the walk", () => {
    const times = Array.from({ length: 40 * 3_600 }, (_, i) => i * SECOND);
    const calm = walk([btc], 1, times).map(([first]) => first?.priceTicks ?? 0);
    const blown = ticksIn([btc], 1, times).map(([ticks]) => ticks ?? 0);
    const off = blown.map((ticks, i) => Math.round((ticks / (calm[i] ?? 1) - 1) * 1e4));
    const began = off.filter((now, i) => now !== 0 && off[i - 1] === 0).length;
    expect(began).toBeGreaterThan(110);
    expect(began).toBeLessThan(210);
    expect(off.some((now) => now > 50)).toBe(true);
    expect(off.some((now) => now < -50)).toBe(true);
    expect(off.every((now) => Math.abs(now) < 102)).toBe(true);
    expect(off.filter((now) => now === 0).length).toBeGreaterThan(0.6 * off.length);
  });

  test("continued from a price during a gust: from that price", () => {
    const source = new SimulatedIndexSource([{ ...btc, annualVolatility: 1 }], 1, 4);
    const ticksAt = (time: number) => source.observe(time)[0]?.priceTicks ?? 0;
    let time = 0;
    while (Math.abs(ticksAt(time) / btc.startTicks - 1) < 0.008) time += 250;
    source.continueFrom("BTCUSD", 800_000);
    expect(ticksAt(time)).toBe(800_000);
    expect(Math.abs(ticksAt(time + 250) / 800_000 - 1)).toBeLessThan(0.001);
  });

  test("a process that slept for a year: no gust that it missed; volatility 0: none at all", () => {
    const [, later] = ticksIn([{ ...btc, annualVolatility: 1e-9 }], 1, [0, YEAR]);
    expect(later).toEqual([btc.startTicks]);
    const still = ticksIn([{ ...btc, annualVolatility: 0 }], 1, quarters(10 * MINUTE));
    expect(new Set(still.flat())).toEqual(new Set([btc.startTicks]));
  });
});
