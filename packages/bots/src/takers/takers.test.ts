import { DEFAULT_MARKETS } from "@perpgate/protocol";
import { Random } from "@perpgate/protocol/random";
import { describe, expect, test } from "vitest";
import { type MarketTerms, marketTerms } from "../market/market-terms.js";
import { Arbitrage } from "./arbitrage.js";
import { Gambler } from "./gambler.js";
import { Momentum } from "./momentum.js";
import { NoiseClock, noiseTaking } from "./noise.js";
import { closing, takerOrder } from "./taker-order.js";

const INDEX = 65_000;
const SECOND = 1_000;

function btcTerms(): MarketTerms {
  const [btc] = DEFAULT_MARKETS;
  if (btc === undefined) throw new Error("no market");
  const prices = { markPrice: null, indexPrice: null, fundingRate: null, nextFundingAt: null };
  const limits = { minNotional: 1, minSize: btc.lotSize, maxSize: null, maxOpenInterest: 2e8 };
  return marketTerms({ ...btc, ...prices, ...limits, maxLeverage: 50, status: "active" });
}

/** All decisions of a market's takers in ten minutes of the same prices. */
function decisions(seed: number) {
  const momentum = new Momentum(new Random(seed, "momentum"));
  const gambler = new Gambler(new Random(seed, "gambler"), btcTerms());
  const clock = new NoiseClock(new Random(seed, "clock"), SECOND);
  const noise = new Random(seed, "noise");
  const made: object[] = [];
  for (let nowMs = 0; nowMs < 600 * SECOND; nowMs += 100) {
    const index = INDEX * (1 + 0.01 * Math.sin(nowMs / 60_000));
    if (clock.isDue(nowMs)) made.push({ nowMs, ...noiseTaking(noise, 0.1, index, 1) });
    if (nowMs % SECOND !== 0) continue;
    for (const taking of [
      momentum.observe(index, nowMs, 0, 1),
      gambler.observe(index, nowMs, undefined),
    ]) {
      if (taking !== undefined) made.push({ nowMs, ...taking });
    }
  }
  return made;
}

/** The first decision of a gambler without a position within ten minutes. */
function firstBet(gambler: Gambler, fromMs: number) {
  for (let nowMs = fromMs; nowMs < fromMs + 600 * SECOND; nowMs += SECOND) {
    const bet = gambler.observe(INDEX, nowMs, undefined);
    if (bet !== undefined) return bet;
  }
  throw new Error("no bet");
}

describe("takers", () => {
  test("same seed, same inputs: the same decisions; another seed: others", () => {
    const made = decisions(7);
    expect(made.length).toBeGreaterThan(300);
    expect(decisions(7)).toEqual(made);
    expect(decisions(8)).not.toEqual(made);
  });

  test("noise: about as many trades as configured, over orders of magnitude, on both sides", () => {
    const clock = new NoiseClock(new Random(3, "clock"), SECOND);
    const random = new Random(3, "noise");
    const takings: ReturnType<typeof noiseTaking>[] = [];
    for (let nowMs = 0; nowMs < 3_600 * SECOND; nowMs += 10) {
      if (clock.isDue(nowMs)) takings.push(noiseTaking(random, 0, INDEX, 1));
    }
    expect(takings.length).toBeGreaterThan(0.9 * 3_600);
    expect(takings.length).toBeLessThan(1.1 * 3_600);
    const dollars = takings.map((taking) => taking.dollars);
    expect(Math.max(...dollars) / Math.min(...dollars)).toBeGreaterThan(100);
    const longs = takings.filter(({ side }) => side === "long").length / takings.length;
    expect(longs).toBeGreaterThan(0.45);
    expect(longs).toBeLessThan(0.55);
  });

  test("noise with a large position: trades against it", () => {
    const random = new Random(3, "noise");
    const takings = Array.from({ length: 500 }, () => noiseTaking(random, 2, INDEX, 1));
    expect(takings.every(({ side }) => side === "short")).toBe(true);
  });

  test("momentum: opens with a rise, closes when it ends", () => {
    const momentum = new Momentum(new Random(1, "momentum"));
    let size = 0;
    const sides: string[] = [];
    for (let second = 0; second < 900; second++) {
      const index = INDEX * (1 + 0.00003 * Math.min(second, 300));
      const taking = momentum.observe(index, second * SECOND, size, 1);
      if (taking === undefined) continue;
      sides.push(`${taking.side}${taking.reduceOnly === true ? " to close" : ""}`);
      size = taking.reduceOnly === true ? 0 : 0.05;
    }
    expect(sides).toEqual(["long", "short to close"]);
  });

  test("gambler: nearly the highest leverage, takes a profit, never a loss", () => {
    const gambler = new Gambler(new Random(1, "gambler"), btcTerms());
    const bet = firstBet(gambler, 0);
    expect(bet.leverage).toBeGreaterThanOrEqual(40);
    expect(bet.leverage).toBeLessThanOrEqual(50);
    const held = { size: 1, avgEntry: INDEX };
    expect(gambler.observe(INDEX * 0.99, 0, held)).toBeUndefined();
    expect(gambler.observe(INDEX * 1.001, 0, held)).toBeUndefined();
    expect(gambler.observe(INDEX * 1.02, 0, held)).toMatchObject({
      side: "short",
      reduceOnly: true,
    });
  });

  test("gamblers: different leverages, so that one move does not liquidate them all", () => {
    const leverages = Array.from(
      { length: 6 },
      (_, i) => firstBet(new Gambler(new Random(1, `gambler ${i + 1}`), btcTerms()), 0).leverage,
    );
    expect(new Set(leverages).size).toBeGreaterThan(2);
  });

  test("a gambler that was liquidated: bets again, after a pause", () => {
    const gambler = new Gambler(new Random(1, "gambler"), btcTerms());
    const bet = firstBet(gambler, 0);
    const size = bet.side === "long" ? 1 : -1;
    const heldUntilMs = 600 * SECOND;
    gambler.observe(INDEX, heldUntilMs, { size, avgEntry: INDEX });
    expect(gambler.observe(INDEX, heldUntilMs, undefined)).toBeUndefined();
    expect(firstBet(gambler, heldUntilMs).leverage).toBeGreaterThanOrEqual(40);
  });

  test("arbitrage: takes an order far from the index, no worse than it, and closes again", () => {
    const arbitrage = new Arbitrage();
    const prices = { index: INDEX, bid: INDEX - 1, ask: INDEX + 1 };
    expect(arbitrage.observe(prices, 0, 0, 1)).toBeUndefined();
    const low = arbitrage.observe({ ...prices, ask: INDEX * 0.99 }, 0, 0, 1);
    if (low === undefined) throw new Error("no order");
    const order = takerOrder(btcTerms(), INDEX, low);
    expect(order).toMatchObject({ side: "long", type: "market" });
    expect(order.price).toBeLessThan(INDEX);
    expect(arbitrage.observe(prices, 0, 0.5, 1)).toMatchObject({ side: "short", reduceOnly: true });
    expect(arbitrage.observe(prices, SECOND, 0.5, 1)).toBeUndefined();
  });

  test("an order: on the tick, at least a lot, within the highest leverage", () => {
    const terms = { ...btcTerms(), maxLeverage: 3 };
    const order = takerOrder(terms, 65_000.123, { side: "short", dollars: 0.01, leverage: 20 });
    expect(order.leverage).toBe(3);
    expect(Number.isInteger(Math.round((order.price ?? 0) * 10 * 1e6) / 1e6)).toBe(true);
    expect((order.margin ?? 0) * (order.leverage ?? 0)).toBeGreaterThanOrEqual(65_000 * 0.00001);
  });

  test("closing: the other side, and a ceiling above the position", () => {
    expect(closing(-0.5, INDEX)).toEqual({
      side: "long",
      dollars: INDEX,
      leverage: 1,
      reduceOnly: true,
    });
  });
});
