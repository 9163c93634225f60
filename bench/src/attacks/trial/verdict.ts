/** What an attack did to the honest trader, and whether the venue passes. */

import { median } from "../../report.js";
import type { Tally } from "../wire/tally.js";
import type { Measured } from "./trader.js";

export interface Run {
  readonly tally: Tally;
  readonly medianMs: number;
  readonly maxMs: number;
  readonly operations: number;
  readonly unanswered: number;
  readonly refused: Readonly<Record<string, number>>;
}

export interface VenueCost {
  readonly cpuSeconds: number;
  readonly logBytes: number;
  /** How long it was still busy after the attack. */
  readonly busyAfterMs: number;
  readonly residentGrowthBytes: number;
  /** Descriptors that are open after the attack and were not before. */
  readonly filesLeftOpen: number;
  readonly isAlive: boolean;
}

export interface Row {
  readonly attack: string;
  readonly kind: string;
  readonly trader: string;
  readonly shows: string;
  readonly discarded: Run;
  readonly attacked: Run;
  readonly ratio: number;
  readonly venue: VenueCost;
  /** Empty if the venue passes. */
  readonly faults: readonly string[];
}

/** The bars: against the discarded run, and absolute. */
export const MOST_TIMES = 5;
export const MOST_MEDIAN_MS = 40;
export const MOST_WAIT_MS = 1_000;

export function runOf(tally: Tally, { latenciesMs, unanswered, refused }: Measured): Run {
  return {
    tally,
    medianMs: median(latenciesMs),
    maxMs: Math.max(0, ...latenciesMs),
    operations: latenciesMs.length,
    unanswered,
    refused,
  };
}

export function faultsOf(attacked: Run, discarded: Run, venue: VenueCost): string[] {
  const faults: string[] = [];
  if (!venue.isAlive) faults.push("the venue ended");
  if (attacked.medianMs >= MOST_TIMES * discarded.medianMs) {
    faults.push(
      `median ${(attacked.medianMs / discarded.medianMs).toFixed(1)} times the discarded`,
    );
  }
  if (attacked.medianMs >= MOST_MEDIAN_MS) faults.push(`median ${attacked.medianMs.toFixed(0)} ms`);
  if (attacked.maxMs >= MOST_WAIT_MS)
    faults.push(`an order waited ${attacked.maxMs.toFixed(0)} ms`);
  if (attacked.unanswered > 0) faults.push(`${attacked.unanswered} orders without an answer`);
  const refused = Object.entries(attacked.refused);
  if (refused.length > 0) {
    faults.push(`honest orders refused: ${refused.map(([why, n]) => `${n} × ${why}`).join(", ")}`);
  }
  return faults;
}
