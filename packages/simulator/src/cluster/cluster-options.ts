/** What a seed decides about its cluster before anything happens. */
import type { Random } from "@perpgate/protocol/random";
import type { Network } from "./stream-link.js";

export interface ClusterOptions {
  readonly gateways: number;
  readonly traders: number;
  readonly isStrict: boolean;
  /** How long misfortunes go on. */
  readonly forMs: number;
  readonly network: Network;
  /** How far each gateway's clock is ahead. */
  readonly skewsMs: readonly number[];
  /** As those of gateways do. Without it a seed that was found before runs as it did then. */
  readonly clocksFollowLog: boolean;
  /** Misfortunes a second. */
  readonly rate: number;
  readonly rollsBack: boolean;
}

/** By how much a clock may be wrong. */
export const WRONG_CLOCKS_MS: readonly number[] = [-3_600_000, -3_000, 3_000, 3_600_000];

export function drawOptions(random: Random, gateways: number): ClusterOptions {
  const rollsBack = random.chance(0.05);
  const isRough = random.chance(0.5);
  const wrong = random.chance(0.25) ? random.pick(WRONG_CLOCKS_MS) : 0;
  return {
    gateways,
    traders: 1 + random.below(3),
    isStrict: rollsBack || random.chance(0.5),
    forMs: random.pick([500, 500, 1_000, 1_000, 2_000, 2_000, 4_000, 12_000]),
    network: {
      lost: isRough ? random.pick([0.02, 0.3]) : 0,
      slow: random.pick([0, 0.1, 0.5]),
      late: isRough ? random.pick([0, 0.05]) : 0,
    },
    skewsMs: Array.from({ length: gateways }, (_, index) =>
      index === 0 ? wrong : random.int(-40, 40),
    ),
    clocksFollowLog: true,
    rate: random.pick([0.5, 1, 3]),
    rollsBack,
  };
}
