/**
 * A gambler: bets on one side with nearly the highest leverage. It takes profits and never losses, so
 * sooner or later it is liquidated, which gives the testnet its liquidations. After a pause it bets
 * again with new deposits.
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
/** The least part of the highest leverage. It varies, so that one move does not liquidate them all. */
const LEAST_LEVERAGE = 0.8;
/** The mean time between two bets, at a pace of 1. */
const PAUSE_MS = 60_000;
/** The gain at which it closes, as a part of the price. */
const SMALLEST_TARGET = 0.002;
const LARGEST_TARGET = 0.008;
/** Before a refused bet is tried again. */
const RETRY_MS = 10_000;

export class Gambler {
  private betsAtMs: number | undefined;
  private target: number | undefined;

  constructor(
    private readonly random: Random,
    private readonly terms: MarketTerms,
    /** How much faster than usual the market trades. */
    private readonly pace = 1,
  ) {}

  observe(index: number, nowMs: number, held: HeldPosition | undefined): Taking | undefined {
    if (held !== undefined) return this.hold(index, held);
    this.target = undefined;
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
    this.target ??= this.random.between(SMALLEST_TARGET, LARGEST_TARGET);
    const gain = ((index - avgEntry) / avgEntry) * Math.sign(size);
    this.betsAtMs = undefined;
    return gain < this.target ? undefined : closing(size, index);
  }
}
