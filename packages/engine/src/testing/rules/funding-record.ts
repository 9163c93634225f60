/**
 * What each position owes for funding, accumulated exactly from `FundingApplied` and the lots at
 * that moment; compared with what the state says was settled.
 */
import type { VenueConfig } from "../../config.js";
import type { VenueEvent } from "../../events/event-table.js";
import { keyOf } from "./fills.js";
import type { View } from "./view.js";

const SCALE = 1_000_000_000n;

export interface Owed {
  /** In billionths of a micro, positive: the account pays. */
  exact: bigint;
  /** Micros of the state's figure when the record began. */
  readonly startMicros: bigint;
  /** Payments so far that rounding may have moved by a micro each. */
  hours: bigint;
}

export class FundingRecord {
  readonly owed = new Map<number, Owed>();
  private readonly lots = new Map<number, bigint>();

  follow(config: VenueConfig, before: View, events: readonly VenueEvent[]): void {
    for (const event of events) {
      if (event.kind === "Traded") {
        const { market, takerSide, lots } = event;
        const change = BigInt(takerSide) * BigInt(lots);
        this.move(keyOf(event.takerAccount, market), change);
        this.move(keyOf(event.makerAccount, market), -change);
      }
      if (event.kind !== "FundingApplied") continue;
      const { market, markTicks, rate } = event;
      const unit = BigInt(markTicks) * BigInt(config.markets[market]!.microsPerTickLot);
      for (const [account, position] of before.markets[market]!.positions) {
        const key = keyOf(account, market);
        const lots = this.lots.get(key) ?? 0n;
        const owed = this.of(key, position.funding);
        if (lots === 0n) continue;
        owed.exact += lots * unit * BigInt(rate);
        owed.hours++;
      }
    }
  }

  /** Micros that the page's rule gives so far, and how many payments they are. */
  total(account: number, market: number): { exact: bigint; hours: bigint; scale: bigint } {
    const owed = this.owed.get(keyOf(account, market));
    if (owed === undefined) return { exact: 0n, hours: 0n, scale: SCALE };
    return { exact: owed.startMicros * SCALE + owed.exact, hours: owed.hours, scale: SCALE };
  }

  private of(key: number, startMicros: number): Owed {
    const known = this.owed.get(key);
    if (known !== undefined) return known;
    const created: Owed = { exact: 0n, startMicros: BigInt(startMicros), hours: 0n };
    this.owed.set(key, created);
    return created;
  }

  private move(key: number, change: bigint): void {
    this.lots.set(key, (this.lots.get(key) ?? 0n) + change);
  }
}
