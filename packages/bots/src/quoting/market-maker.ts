/**
 * The makers of one market: several accounts that keep one ladder of quotes around the fair price.
 *
 * Each refresh looks at what stands, plans, and carries out as much of the plan as it is allowed.
 * What is left over is planned anew the next time, against the prices of then.
 */

import { randomKey } from "@perpgate/protocol/random";
import type { BotAccount, Placed } from "../account/bot-account.js";
import {
  atLeastLots,
  type MarketTerms,
  marginFor,
  priceOf,
  ticksOf,
} from "../market/market-terms.js";
import type { MarketWatch } from "../market/market-watch.js";
import { CellWidth } from "./cell-width.js";
import { FairPrice } from "./fair-price.js";
import { dollarsOf, type Ladder, ladderOf, touchDollarsOf } from "./ladder.js";
import { type NewQuote, planQuotes, type QuotePlan, type StandingQuote } from "./quote-plan.js";

const LEVERAGE = 10;
/** A stranger's offer that was in the way is looked for again after this long. */
const IN_THE_WAY_MS = 3_000;
const STALE_REST_MS = 2_000;
const HALTED_REST_MS = 30_000;
/** An account that is short of money places nothing on that side for a while. */
const SHORT_REST_MS = 3_000;
/** Of the orders that the venue allows, the part that is aimed at: what lingers needs room too. */
const ROOM_USED = 0.6;
const FEWEST_LEVELS = 5;
/** Of the actions, what strays may take while there is something to place. */
const STRAYS_PART = 0.3;

export class MarketMaker {
  private readonly terms: MarketTerms;
  private readonly key: number;
  private readonly fair = new FairPrice();
  private readonly cellWidth: CellWidth;
  private ladder: Ladder | undefined;
  private cell = 0;
  /** By maker, then by side. */
  private readonly restsUntilMs: { bid: number; ask: number }[];
  private bidBelow = { ticks: Number.POSITIVE_INFINITY, untilMs: 0 };
  private askAbove = { ticks: 0, untilMs: 0 };

  constructor(
    private readonly market: MarketWatch,
    private readonly accounts: readonly BotAccount[],
    seed: number,
    private levels: number,
    /** Its share of the orders and cancels. */
    actionsPerSecond: number,
  ) {
    this.cellWidth = new CellWidth(actionsPerSecond);
    this.terms = market.terms;
    this.key = randomKey(seed, `ladder/${market.terms.symbol}`);
    this.restsUntilMs = accounts.map(() => ({ bid: 0, ask: 0 }));
  }

  /** `nowMs` is monotonic, `performance.now()`. Answers how many orders and cancels it took. */
  async refresh(nowMs: number, allowed: number): Promise<number> {
    const prices = this.market.tradable(nowMs);
    if (prices === undefined) return 0;
    const fairTicks = this.fair.update(ticksOf(this.terms, prices.index), nowMs);
    const ladder = this.ladderAt(fairTicks, nowMs);
    const plan = this.plan(ladder, fairTicks, nowMs);
    const wanted = this.placeable(plan.place, nowMs);
    const cancel = plan.cancel.slice(0, cancelsOf(plan, wanted.length, allowed));
    await Promise.all(cancel.map((quote) => this.cancel(quote)));
    // Quotes that could not be canceled yet would be hit by new ones.
    if (cancel.length < plan.crossed) return cancel.length;
    const place = wanted.slice(0, allowed - cancel.length);
    await Promise.all(place.map((quote) => this.place(ladder, quote)));
    return cancel.length + place.length;
  }

  private ladderAt(fairTicks: number, nowMs: number): Ladder {
    const cell = this.cellWidth.observe(fairTicks, nowMs);
    if (this.ladder === undefined || cell !== this.cell) {
      this.cell = cell;
      this.ladder = ladderOf(this.key, fairTicks, this.levels, cell);
    }
    return this.ladder;
  }

  private plan(ladder: Ladder, fairTicks: number, nowMs: number): QuotePlan {
    return planQuotes({
      ladder,
      fairTicks,
      makers: this.accounts.length,
      standing: this.standing(),
      bidBelowTicks: nowMs < this.bidBelow.untilMs ? this.bidBelow.ticks : Number.POSITIVE_INFINITY,
      askAboveTicks: nowMs < this.askAbove.untilMs ? this.askAbove.ticks : 0,
    });
  }

  private standing(): StandingQuote[] {
    const { symbol } = this.terms;
    return this.accounts.flatMap((account, maker) =>
      Array.from(account.orders.of(symbol).values(), ({ orderId, side, price }) => ({
        orderId,
        side: side === "long" ? ("bid" as const) : ("ask" as const),
        ticks: Math.round(ticksOf(this.terms, price)),
        maker,
      })),
    );
  }

  /** Those whose account can place them now. */
  private placeable(quotes: readonly NewQuote[], nowMs: number): NewQuote[] {
    return quotes.filter(({ maker, side }) => {
      const isRested = nowMs >= (this.restsUntilMs[maker]?.[side] ?? 0);
      return isRested && this.accounts[maker]?.isReady === true;
    });
  }

  private async cancel({ orderId, maker }: StandingQuote): Promise<void> {
    await this.accounts[maker]?.cancel(this.terms.symbol, orderId);
  }

  private async place(ladder: Ladder, quote: NewQuote): Promise<void> {
    const { terms } = this;
    const price = priceOf(terms, quote.ticks);
    const leverage = Math.min(LEVERAGE, terms.maxLeverage);
    const wanted = quote.isTouch
      ? touchDollarsOf(ladder, terms, quote.ticks)
      : dollarsOf(ladder, terms, quote.ticks, quote.gap);
    const dollars = atLeastLots(terms, wanted, price);
    const placed = await this.accounts[quote.maker]?.place({
      symbol: terms.symbol,
      side: quote.side === "bid" ? "long" : "short",
      type: "limit",
      margin: marginFor(dollars, leverage),
      leverage,
      price,
      postOnly: true,
    });
    if (placed !== undefined) this.learn(placed, quote, performance.now());
  }

  /** A refusal says what not to try for a while. */
  private learn(placed: Placed, { side, ticks, maker }: NewQuote, nowMs: number): void {
    const untilMs = nowMs + IN_THE_WAY_MS;
    switch (placed) {
      case "post_only_would_cross":
        if (side === "bid") {
          const before = nowMs < this.bidBelow.untilMs ? this.bidBelow.ticks : ticks;
          this.bidBelow = { ticks: Math.min(before, ticks), untilMs };
        } else {
          const before = nowMs < this.askAbove.untilMs ? this.askAbove.ticks : ticks;
          this.askAbove = { ticks: Math.max(before, ticks), untilMs };
        }
        return;
      case "stale_index":
        this.market.rest(nowMs + STALE_REST_MS);
        return;
      case "market_halted":
        this.market.rest(nowMs + HALTED_REST_MS);
        return;
      case "open_order_limit":
        this.shrink(this.accounts[maker]?.orders.of(this.terms.symbol).size ?? 0);
        return;
      case "insufficient_margin":
      case "leverage_above_tier":
      case "position_limit":
        this.restsUntilMs[maker]![side] = nowMs + SHORT_REST_MS;
        return;
    }
  }

  /** The venue takes no more than this many orders of an account: a smaller ladder fits. */
  private shrink(ordersOfOne: number): void {
    const fitting = Math.floor((ROOM_USED * ordersOfOne * this.accounts.length) / 2);
    const levels = Math.max(FEWEST_LEVELS, Math.min(this.levels, fitting));
    if (levels === this.levels) return;
    this.levels = levels;
    this.ladder = undefined;
  }
}

/** All that are in the way; of strays, what leaves most of the actions to new quotes. */
function cancelsOf({ cancel, crossed }: QuotePlan, placed: number, allowed: number): number {
  const left = Math.max(0, allowed - crossed);
  const strays = Math.max(left - placed, Math.ceil(left * STRAYS_PART));
  return Math.min(cancel.length, allowed, crossed + strays);
}
