/**
 * A gambler: nearly all the leverage there is, one way, and then hope. It takes a profit once there
 * is one and never a loss, so sooner or later the venue takes it: that is where liquidations come
 * from. Wiped out, it is back with other money after a while.
 */

import type { Random } from "@perpgate/protocol/random";
import type { HeldPosition } from "../account/bot-account.js";
import type { MarketTerms } from "../market/market-terms.js";
import { closing, type Taking } from "./taker-order.js";

/** Its stake in dollars, before leverage. */
const SMALLEST_STAKE = 150;
const LARGEST_STAKE = 1_200;
/** The part of the first tier, where leverage is highest, that a bet may fill. */
const TIER_PART = 0.2;
/** The least part of the leverage there is. They differ, so that one move does not end them all. */
const LEAST_LEVERAGE = 0.8;
/** Between two bets, on average, at a pace of 1. */
const PAUSE_MS = 60_000;
/** The move that it waits for, as a part of the price. */
const SMALLEST_HOPE = 0.002;
const LARGEST_HOPE = 0.008;
/** A refused bet is not made again at once. */
const RETRY_MS = 10_000;

export class Gambler {
  private betsAtMs: number | undefined;
  private hope: number | undefined;

  constructor(
    private readonly random: Random,
    private readonly terms: MarketTerms,
    /** How much faster than usual everyone trades. */
    private readonly pace = 1,
  ) {}

  observe(index: number, nowMs: number, held: HeldPosition | undefined): Taking | undefined {
    if (held !== undefined) return this.hold(index, held);
    this.hope = undefined;
    this.betsAtMs ??= nowMs + this.random.exponential(PAUSE_MS / this.pace);
    if (nowMs < this.betsAtMs) return undefined;
    this.betsAtMs = nowMs + RETRY_MS;
    return this.bet();
  }

  private bet(): Taking {
    const { firstTier, maxLeverage } = this.terms;
    const stake = this.random.between(SMALLEST_STAKE, LARGEST_STAKE);
    const side = this.random.chance(0.5) ? "long" : "short";
    const leverage = Math.round(maxLeverage * this.random.between(LEAST_LEVERAGE, 1));
    return { side, dollars: Math.min(stake * leverage, firstTier * TIER_PART), leverage };
  }

  private hold(index: number, { size, avgEntry }: HeldPosition): Taking | undefined {
    this.hope ??= this.random.between(SMALLEST_HOPE, LARGEST_HOPE);
    const gain = ((index - avgEntry) / avgEntry) * Math.sign(size);
    this.betsAtMs = undefined;
    return gain < this.hope ? undefined : closing(size, index);
  }
}
