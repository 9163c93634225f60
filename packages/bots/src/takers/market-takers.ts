/**
 * All takers of one market: asks each what it wants to do and sends it, one order at a time per
 * trader, so that no decision is made on a position that is about to change.
 */

import { Random } from "@perpgate/protocol/random";
import type { BotAccount } from "../account/bot-account.js";
import type { MarketWatch, Prices } from "../market/market-watch.js";
import { Arbitrage } from "./arbitrage.js";
import { Gambler } from "./gambler.js";
import { Momentum } from "./momentum.js";
import { NoiseClock, noiseTaking } from "./noise.js";
import { type Taking, takerOrder } from "./taker-order.js";

export interface TakerAccounts {
  readonly noise: readonly BotAccount[];
  readonly momentum: BotAccount;
  readonly arbitrage: BotAccount;
  readonly gamblers: readonly BotAccount[];
}

/** How often those who watch prices look at them. */
const LOOK_EVERY_MS = 1_000;
/** Trades of noise that gamblers take for the usual pace. */
const USUAL_PER_MINUTE = 60;
const HALTED_REST_MS = 30_000;
const STALE_REST_MS = 2_000;

export class MarketTakers {
  private readonly noiseRandom: Random;
  private readonly noiseClock: NoiseClock;
  private readonly momentum: Momentum;
  private readonly arbitrage = new Arbitrage();
  private readonly gamblers: readonly Gambler[];
  private readonly busy = new Set<BotAccount>();
  private looksAtMs = 0;

  constructor(
    private readonly market: MarketWatch,
    private readonly accounts: TakerAccounts,
    seed: number,
    tradesPerMinute: number,
  ) {
    const { symbol } = market.terms;
    this.noiseRandom = new Random(seed, `noise/${symbol}`);
    const clockRandom = new Random(seed, `noise clock/${symbol}`);
    this.noiseClock = new NoiseClock(clockRandom, 60_000 / tradesPerMinute);
    this.momentum = new Momentum(new Random(seed, `momentum/${symbol}`));
    const pace = tradesPerMinute / USUAL_PER_MINUTE;
    this.gamblers = accounts.gamblers.map(
      ({ name }) => new Gambler(new Random(seed, `${name}/${symbol}`), market.terms, pace),
    );
  }

  /** To be called often; answers how many orders went out. */
  act(nowMs: number): number {
    const prices = this.market.tradable(nowMs);
    // Noise trades with someone: an empty book is not asked.
    if (prices?.bid === undefined || prices.ask === undefined) return 0;
    let sent = this.noise(prices, nowMs);
    if (nowMs < this.looksAtMs) return sent;
    this.looksAtMs = nowMs + LOOK_EVERY_MS;
    sent += this.look(prices, nowMs);
    return sent;
  }

  private noise({ index }: Prices, nowMs: number): number {
    if (!this.noiseClock.isDue(nowMs)) return 0;
    const { noise } = this.accounts;
    const trader = noise[Math.floor(this.noiseRandom.next() * noise.length)];
    if (trader === undefined) return 0;
    const { scale } = this.market.terms;
    return this.send(
      trader,
      index,
      noiseTaking(this.noiseRandom, this.sizeOf(trader), index, scale),
    );
  }

  private look(prices: Prices, nowMs: number): number {
    const { momentum, arbitrage, gamblers } = this.accounts;
    const { symbol, scale } = this.market.terms;
    const { index } = prices;
    const wanted: [BotAccount, Taking | undefined][] = [
      [momentum, this.momentum.observe(index, nowMs, this.sizeOf(momentum), scale)],
      [arbitrage, this.arbitrage.observe(prices, nowMs, this.sizeOf(arbitrage), scale)],
      ...gamblers.map((account, i): [BotAccount, Taking | undefined] => [
        account,
        // A gambler that cannot trade yet keeps its bet for later.
        account.isReady
          ? this.gamblers[i]?.observe(index, nowMs, account.positions.get(symbol))
          : undefined,
      ]),
    ];
    let sent = 0;
    for (const [account, taking] of wanted) {
      if (taking !== undefined) sent += this.send(account, index, taking);
    }
    return sent;
  }

  private send(account: BotAccount, index: number, taking: Taking): number {
    if (!account.isReady || this.busy.has(account)) return 0;
    this.busy.add(account);
    const order = takerOrder(this.market.terms, index, taking);
    void account.place(order).then((placed) => {
      this.busy.delete(account);
      const nowMs = performance.now();
      if (placed === "stale_index") this.market.rest(nowMs + STALE_REST_MS);
      if (placed === "market_halted") this.market.rest(nowMs + HALTED_REST_MS);
    });
    return 1;
  }

  private sizeOf(account: BotAccount): number {
    return account.positions.get(this.market.terms.symbol)?.size ?? 0;
  }
}
