/** What happens in one life of a real venue process, drawn from a seed. */

import type { Random } from "@perpgate/protocol/random";

/** In the order in which a venue starts its threads. */
const THREADS = ["commit", "store"] as const;

export interface LifePlan {
  readonly directory: string;
  readonly seed: number;
  /** How wrong the wall clock is in this life, from its start on. */
  readonly clockShiftMs: number;
  /** Commands that are answered before something ends. */
  readonly answered: number;
  /** The thread that ends then; undefined: the process is killed. */
  readonly thread: number | undefined;
  readonly acceptLoss: boolean;
}

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
/** Ahead by less than a minute: followed. */
export const FOLLOWED_SHIFT_MS = 30_000;

export function drawLife(random: Random, directory: string): LifePlan {
  return {
    directory,
    seed: random.below(2 ** 31),
    clockShiftMs: random.pick([
      0,
      0,
      0,
      FOLLOWED_SHIFT_MS,
      HOUR_MS,
      2 * YEAR_MS,
      -HOUR_MS,
      -2 * YEAR_MS,
    ]),
    answered: 1 + random.below(random.pick([20, 400])),
    thread: random.chance(0.75) ? random.below(THREADS.length) : undefined,
    acceptLoss: false,
  };
}

export function isPlan(value: unknown): value is LifePlan {
  return typeof value === "object" && value !== null && "directory" in value && "seed" in value;
}
