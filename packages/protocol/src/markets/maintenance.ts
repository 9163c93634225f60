/** Maintenance margin and the liquidation price: what engine, page and CCXT class share. */
import { assertSafe, mulDivCeil } from "../numbers/integers.js";
import { toMicrosFloor } from "../numbers/units.js";
import { PPM } from "./rules.js";

export interface MarginTier {
  /** The tier covers notionals up to and including this. */
  readonly upToMicros: number;
  readonly maxLeverage: number;
  readonly maintenancePpm: number;
}

/** A tier as `GET /v1/markets` lists it. */
interface ListedTier {
  readonly notionalUpTo: number;
  readonly maxLeverage: number;
  readonly maintenanceRate: number;
}

/** Maintenance margin: marginal over the tiers, precomputed once per configuration. */
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

  static listed(tiers: readonly ListedTier[]): MaintenanceSchedule {
    return new MaintenanceSchedule(
      tiers.map(({ notionalUpTo, maxLeverage, maintenanceRate }) => ({
        upToMicros: toMicrosFloor(notionalUpTo),
        maxLeverage,
        maintenancePpm: Math.round(maintenanceRate * PPM),
      })),
    );
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

/** A position in integers; lots and cost are negative for shorts. */
export interface Holding {
  readonly lots: number;
  readonly costMicros: number;
  readonly marginMicros: number;
}

/**
 * The mark at which a position becomes due for liquidation, in ticks: the first whole tick, from the
 * safe side, at which margin + unrealised PnL ≤ maintenance. `liquidationPrice` of a position is this.
 *
 * A binary search is exact, because equity less maintenance never falls as the mark moves to the safe
 * side: a tick moves equity by lots × unit micros, and maintenance, at rates below one and rounded up,
 * by no more.
 * Null if no mark of at least one tick makes it due.
 */
export function liquidationMark(
  { lots, costMicros, marginMicros }: Holding,
  microsPerTickLot: number,
  maintenanceOf: (notionalMicros: number) => number,
): number | null {
  if (lots === 0) return null;
  const isDue = (ticks: number): boolean => {
    const value = lots * ticks * microsPerTickLot;
    return marginMicros + value - costMicros <= maintenanceOf(Math.abs(value));
  };
  return lots > 0 ? highestDue(isDue, costMicros / (lots * microsPerTickLot)) : lowestDue(isDue);
}

/** Longs: due at every mark up to the result. None is due above the entry price plus margin. */
function highestDue(isDue: (ticks: number) => boolean, entryTicks: number): number | null {
  if (!isDue(1)) return null;
  let due = 1;
  let safe = Math.max(2, Math.ceil(entryTicks));
  while (isDue(safe)) {
    due = safe;
    safe *= 2;
  }
  return between(due, safe, isDue);
}

/** Shorts: due at every mark from the result on. */
function lowestDue(isDue: (ticks: number) => boolean): number {
  let due = 1;
  while (!isDue(due)) due *= 2;
  return between(due, Math.floor(due / 2), isDue);
}

/** The due mark next to the safe marks, between one of each. */
function between(due: number, safe: number, isDue: (ticks: number) => boolean): number {
  let [dueTicks, safeTicks] = [due, safe];
  while (Math.abs(safeTicks - dueTicks) > 1) {
    const middle = Math.floor((dueTicks + safeTicks) / 2);
    if (isDue(middle)) dueTicks = middle;
    else safeTicks = middle;
  }
  return dueTicks;
}
