/**
 * The makers of one market: several accounts that keep one ladder of quotes around the fair price.
 *
 * Each refresh compares the open quotes with the ladder and executes as much of the plan as its budget
 * allows. The next refresh plans again, from the prices of that moment.
 */

import { randomKey } from "@perpgate/protocol/random";
import type { BotAccount, Placed, QuoteChange } from "../account/bot-account.js";
import {
  atLeastMinimum,
  exactTicks,
  type MarketTerms,
  priceOfTicks,
  wholeLotSize,
} from "../market/market-terms.js";
import type { MarketWatch } from "../market/market-watch.js";
import { CellWidth } from "./cell-width.js";
import { dollarsOf, ladderOf, type QuoteLadder, touchDollarsOf } from "./ladder.js";
import {
  canceling,
  type NewQuote,
  pairQuotes,
  planQuotes,
  type QuoteMove,
  type QuotePlan,
  type StandingQuote,
} from "./quote-plan.js";

const FOLLOW_MS = 3_000;
/** How far it may lag, as a part of the index. */
const LARGEST_LAG = 0.0004;

/**
 * The makers' fair price of a market: the index, smoothed.
 *
 * Smoothing makes quoting cheap: an index that moves up and down within a second would move every
 * near quote, its average does not. The lag stays below the taker's fee, so that nobody can profit
 * from it.
 */
class FairPrice {
  private value: number | undefined;
  private updatedAtMs = 0;

  /** Returns the fair price in the unit of the index. */
  update(index: number, nowMs: number): number {
    const elapsedMs = Math.max(0, nowMs - this.updatedAtMs);
    this.updatedAtMs = nowMs;
    const before = this.value ?? index;
    const followed = before + (index - before) * (1 - Math.exp(-elapsedMs / FOLLOW_MS));
    const lag = LARGEST_LAG * index;
    this.value = Math.min(index + lag, Math.max(index - lag, followed));
    return this.value;
  }
}

const LEVERAGE = 10;
/** How long quotes stay away from another trader's order that they would have crossed. */
const CROSSED_PAUSE_MS = 3_000;
/** An account without margin places nothing on that side for this long. */
const MARGIN_PAUSE_MS = 3_000;
/** The part of the allowed orders that the ladder uses; quotes to be canceled need room too. */
const ROOM_USED = 0.6;
const FEWEST_LEVELS = 5;
/** The part of the actions for canceling strays while there are quotes to place. */
const STRAYS_PART = 0.3;

export class MarketMaker {
  private readonly terms: MarketTerms;
  private readonly key: number;
  /** Ids of quotes that an earlier run has left must not be met again. */
  private readonly idPrefix = `q${Date.now().toString(36)}`;
  private placed = 0;
  private readonly fair = new FairPrice();
  private readonly cellWidth: CellWidth;
  private ladder: QuoteLadder | undefined;
  private cell = 0;
  /** By maker, then by side. */
  private readonly pausedUntilMs: { bid: number; ask: number }[];
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
    this.pausedUntilMs = accounts.map(() => ({ bid: 0, ask: 0 }));
  }

  /** `nowMs` is `performance.now()`. Returns the number of orders and cancels sent. */
  async refresh(nowMs: number, allowed: number): Promise<number> {
    const prices = this.market.tradable(nowMs);
    if (prices === undefined) return 0;
    const fairTicks = this.fair.update(exactTicks(this.terms, prices.index), nowMs);
    const ladder = this.ladderAt(fairTicks, nowMs);
    const plan = this.plan(ladder, fairTicks, nowMs);
    const wanted = this.placeable(plan.place, nowMs);
    const cancel = plan.cancel.slice(0, cancelsOf(plan, wanted.length, allowed));
    // New quotes would trade with crossed ones that are not canceled yet.
    await this.send(ladder, cancel.slice(0, plan.crossed).map(canceling));
    if (cancel.length < plan.crossed) return cancel.length;
    const place = wanted.slice(0, allowed - cancel.length);
    const moves = pairQuotes(cancel.slice(plan.crossed), place);
    await this.send(ladder, moves);
    return Math.min(plan.crossed, cancel.length) + moves.length;
  }

  private ladderAt(fairTicks: number, nowMs: number): QuoteLadder {
    const cell = this.cellWidth.observe(fairTicks, nowMs);
    if (this.ladder === undefined || cell !== this.cell) {
      this.cell = cell;
      this.ladder = ladderOf(this.key, fairTicks, this.levels, cell);
    }
    return this.ladder;
  }

  private plan(ladder: QuoteLadder, fairTicks: number, nowMs: number): QuotePlan {
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
        ticks: Math.round(exactTicks(this.terms, price)),
        maker,
      })),
    );
  }

  /** Quotes whose account can place them now. */
  private placeable(quotes: readonly NewQuote[], nowMs: number): NewQuote[] {
    return quotes.filter(({ maker, side }) => {
      const isActive = nowMs >= (this.pausedUntilMs[maker]?.[side] ?? 0);
      return isActive && this.accounts[maker]?.isReady === true;
    });
  }

  /** One batch per account, which the venue executes with one signature and in one round trip. */
  private async send(ladder: QuoteLadder, moves: readonly QuoteMove[]): Promise<void> {
    await Promise.all(
      this.accounts.map(async (account, maker) => {
        const own = moves.filter((move) => move.maker === maker);
        if (own.length === 0) return;
        const changes = own.map((move) => this.changeOf(ladder, move));
        const outcomes = await account.change(this.terms.symbol, changes);
        own.forEach(({ to }, i) => {
          if (to !== undefined) this.onPlaced(outcomes[i] ?? "no_answer", to, performance.now());
        });
      }),
    );
  }

  private changeOf(ladder: QuoteLadder, { from, to }: QuoteMove): QuoteChange {
    if (to === undefined) return { op: "cancel", orderId: from?.orderId ?? "0" };
    const { terms } = this;
    const price = priceOfTicks(terms, to.ticks);
    const wanted = to.isTouch
      ? touchDollarsOf(ladder, terms, to.ticks)
      : dollarsOf(ladder, terms, to.ticks, to.gap);
    const size = wholeLotSize(terms, atLeastMinimum(terms, wanted, price), price);
    if (from !== undefined) return { op: "amend", orderId: from.orderId, price, size };
    this.placed++;
    return {
      op: "place",
      symbol: terms.symbol,
      side: to.side === "bid" ? "long" : "short",
      type: "limit",
      size,
      leverage: Math.min(LEVERAGE, terms.maxLeverage),
      price,
      postOnly: true,
      clientOrderId: `${this.idPrefix}-${this.placed.toString(36)}`,
    };
  }

  /** Errors pause what caused them. */
  private onPlaced(placed: Placed, { side, ticks, maker }: NewQuote, nowMs: number): void {
    const untilMs = nowMs + CROSSED_PAUSE_MS;
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
      case "open_order_limit":
      case "too_many_orders":
        this.shrink(this.accounts[maker]?.orders.of(this.terms.symbol).size ?? 0);
        return;
      case "insufficient_margin":
      case "leverage_above_tier":
      case "leverage_limited":
      case "position_limit":
        this.pausedUntilMs[maker]![side] = nowMs + MARGIN_PAUSE_MS;
        return;
      default:
        this.market.pauseAfter(placed, nowMs);
    }
  }

  /** Shrinks the ladder to the number of orders that the venue allows an account. */
  private shrink(ordersOfOne: number): void {
    const fitting = Math.floor((ROOM_USED * ordersOfOne * this.accounts.length) / 2);
    const levels = Math.max(FEWEST_LEVELS, Math.min(this.levels, fitting));
    if (levels === this.levels) return;
    this.levels = levels;
    this.ladder = undefined;
  }
}

/** All crossed quotes; of the strays as many as leave most of the actions to new quotes. */
function cancelsOf({ cancel, crossed }: QuotePlan, placed: number, allowed: number): number {
  const left = Math.max(0, allowed - crossed);
  const strays = Math.max(left - placed, Math.ceil(left * STRAYS_PART));
  return Math.min(cancel.length, allowed, crossed + strays);
}
