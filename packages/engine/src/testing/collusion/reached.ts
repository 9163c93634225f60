/** Counts how far the rings got: fills, liquidations, hand-overs, reductions, deleveraging. */
import { TRADE_KINDS, type VenueEvent } from "../../events/event-table.js";

export class Reached {
  private readonly counts = new Map<string, number>();

  observe(events: readonly VenueEvent[]): void {
    for (const event of events) {
      if (event.kind === "Traded") {
        const reduces = event.tradeKind === 2 && event.takerAccount === 0;
        this.add(reduces ? "reduction" : TRADE_KINDS[event.tradeKind]!);
      }
      if (event.kind === "FundingApplied" && event.rate !== 0) this.add("funding");
    }
  }

  /** Which of these never happened. */
  missing(...wanted: string[]): string[] {
    return wanted.filter((key) => !this.counts.has(key));
  }

  add(key: string, times = 1): void {
    this.counts.set(key, (this.counts.get(key) ?? 0) + times);
  }

  merge(other: Reached): void {
    for (const [key, times] of other.counts) this.add(key, times);
  }

  toString(): string {
    return [...this.counts].map(([key, count]) => `${count} ${key}`).join(", ");
  }
}
