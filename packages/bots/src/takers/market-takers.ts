/**
 * All takers of one market: collects their decisions and sends them, one order at a time per trader,
 * so that no decision is based on a position that is about to change.
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

/** How often momentum, arbitrage and gamblers decide. */
const DECIDE_EVERY_MS = 1_000;
/** Noise trades per minute at which gamblers have a pace of 1. */
const USUAL_PER_MINUTE = 60;

export class MarketTakers {
  private readonly noiseRandom: Random;
  private readonly noiseClock: NoiseClock;
  private readonly momentum: Momentum;
  private readonly arbitrage = new Arbitrage();
  private readonly gamblers: readonly Gambler[];
  private readonly busy = new Set<BotAccount>();
  private decidesAtMs = 0;

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

  /** Called often. */
  act(nowMs: number): void {
    const prices = this.market.tradable(nowMs);
    // Takers need both sides of the book.
    if (prices?.bid === undefined || prices.ask === undefined) return;
    this.noise(prices, nowMs);
    if (nowMs < this.decidesAtMs) return;
    this.decidesAtMs = nowMs + DECIDE_EVERY_MS;
    this.decide(prices, nowMs);
  }

  private noise({ index }: Prices, nowMs: number): void {
    if (!this.noiseClock.isDue(nowMs)) return;
    const { noise } = this.accounts;
    const trader = noise[Math.floor(this.noiseRandom.next() * noise.length)];
    if (trader === undefined) return;
    const { scale } = this.market.terms;
    this.send(trader, index, noiseTaking(this.noiseRandom, this.sizeOf(trader), index, scale));
  }

  private decide(prices: Prices, nowMs: number): void {
    const { momentum, arbitrage, gamblers } = this.accounts;
    const { symbol, scale } = this.market.terms;
    const { index } = prices;
    const wanted: [BotAccount, Taking | undefined][] = [
      [momentum, this.momentum.observe(index, nowMs, this.sizeOf(momentum), scale)],
      [arbitrage, this.arbitrage.observe(prices, nowMs, this.sizeOf(arbitrage), scale)],
      ...gamblers.map((account, i): [BotAccount, Taking | undefined] => [
        account,
        // Not asked before it can trade: it would lose its bet.
        account.isReady
          ? this.gamblers[i]?.observe(index, nowMs, account.positions.get(symbol))
          : undefined,
      ]),
    ];
    for (const [account, taking] of wanted) {
      if (taking !== undefined) this.send(account, index, taking);
    }
  }

  private send(account: BotAccount, index: number, taking: Taking): void {
    if (!account.isReady || this.busy.has(account)) return;
    this.busy.add(account);
    const order = takerOrder(this.market.terms, index, taking);
    void account.place(order).then((placed) => {
      this.busy.delete(account);
      this.market.pauseAfter(placed, performance.now());
    });
  }

  private sizeOf(account: BotAccount): number {
    return account.positions.get(this.market.terms.symbol)?.size ?? 0;
  }
}
