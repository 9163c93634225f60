/**
 * The marks that the figures on the screen are computed with, sampled four times a second: a number that
 * changes faster cannot be read. All components use the same sample, so that their figures agree.
 */

import { Store } from "../state/store.js";
import type { MarketFeed } from "./market-feed.js";

const SAMPLE_MS = 250;

export class LiveMarks {
  readonly sample = new Store<ReadonlyMap<string, number>>(new Map(), "immediate");

  constructor(private readonly marketFeed: Pick<MarketFeed, "markets" | "ticker">) {}

  start(): void {
    setInterval(() => this.take(), SAMPLE_MS);
  }

  private take(): void {
    const marks = new Map<string, number>();
    for (const { market } of this.marketFeed.markets.get() ?? []) {
      const mark = this.marketFeed.ticker(market.symbol).get()?.mark;
      if (mark !== null && mark !== undefined) marks.set(market.symbol, mark);
    }
    this.sample.set(marks);
  }
}
