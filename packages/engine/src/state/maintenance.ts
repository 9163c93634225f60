/** Maintenance margin: marginal over the tiers, precomputed once per configuration. */
import { assertSafe, mulDivCeil } from "@perpgate/protocol/integers";
import { type MarginTier, PPM } from "../config.js";

export class MaintenanceSchedule {
  readonly topMicros: number;
  readonly lowestPpm: number;
  readonly highestPpm: number;
  /** Upper bounds of the tiers, rising. */
  readonly bounds: readonly number[];
  private readonly lower: number[] = [];
  private readonly base: number[] = [];

  constructor(readonly tiers: readonly MarginTier[]) {
    let lower = 0;
    let base = 0;
    for (const tier of tiers) {
      this.lower.push(lower);
      this.base.push(base);
      // Whole micros: configFault refuses bounds for which it is not.
      base = assertSafe(base + mulDivCeil(tier.upToMicros - lower, tier.maintenancePpm, PPM));
      lower = tier.upToMicros;
    }
    this.bounds = tiers.map((tier) => tier.upToMicros);
    this.topMicros = lower;
    this.lowestPpm = tiers[0]!.maintenancePpm;
    this.highestPpm = Math.max(...tiers.map((tier) => tier.maintenancePpm));
  }

  tierOf(notionalMicros: number): MarginTier {
    return this.tiers[this.indexOf(notionalMicros)]!;
  }

  /** The largest notional, in micros, that a leverage may have; 0 if it is above every tier's. */
  limitOf(leverage: number): number {
    for (let i = this.tiers.length - 1; i >= 0; i--) {
      if (leverage <= this.tiers[i]!.maxLeverage) return this.bounds[i]!;
    }
    return 0;
  }

  /** Maintenance margin of a position of that notional, in micros, rounded up. */
  of(notionalMicros: number): number {
    const i = this.indexOf(notionalMicros);
    return (
      this.base[i]! +
      mulDivCeil(notionalMicros - this.lower[i]!, this.tiers[i]!.maintenancePpm, PPM)
    );
  }

  /**
   * A mark, in micros per lot, above which a long cannot be due for liquidation. Computed in doubles;
   * the caller adds a tick for their error. Maintenance is the maximum of one straight line per tier,
   * so the position is due where its equity is below any of them.
   */
  watchLong(lots: number, costMicros: number, marginMicros: number): number {
    let highest = 0;
    for (let i = 0; i < this.tiers.length; i++) {
      const rate = this.tiers[i]!.maintenancePpm / PPM;
      const offset = rate * this.lower[i]! - this.base[i]!;
      const price = (costMicros - marginMicros - offset + 1) / (lots * (1 - rate));
      if (price > highest) highest = price;
    }
    return highest;
  }

  /** The same for a short: the mark below which it cannot be due. */
  watchShort(lots: number, costMicros: number, marginMicros: number): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.tiers.length; i++) {
      const rate = this.tiers[i]!.maintenancePpm / PPM;
      const offset = rate * this.lower[i]! - this.base[i]!;
      const price = (marginMicros - costMicros + offset - 1) / (-lots * (1 + rate));
      if (price < lowest) lowest = price;
    }
    return lowest;
  }

  private indexOf(notionalMicros: number): number {
    const last = this.tiers.length - 1;
    let i = 0;
    while (i < last && notionalMicros > this.tiers[i]!.upToMicros) i++;
    return i;
  }
}
