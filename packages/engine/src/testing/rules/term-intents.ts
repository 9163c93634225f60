/** Intents around the terms of orders: sizes, lives, stops of all kinds, amendments, batches, margin. */
import type { Random } from "@perpgate/protocol/random";
import type { SelfTrade, TimeInForce } from "../../commands.js";
import { TRADERS } from "./listing.js";

export interface Terms {
  /** Lots instead of money; with `isBounded` the margin is sent, too. */
  readonly isSized: boolean;
  readonly isBounded: boolean;
  readonly timeInForce: TimeInForce;
  /** 0: never. */
  readonly expiresInMs: number;
  readonly selfTrade: SelfTrade;
  readonly isTakeProfit: boolean;
  /** A stop's limit against its price, in ppm; null: none. */
  readonly limit: number | null;
  /** One of a few client ids, so that some are in use; 0: none. */
  readonly name: number;
}

/** Distances from the order's price, in ppm, wrong when negative; 0: none. Limits against the exits. */
export interface ExitWish {
  readonly profit: number;
  readonly loss: number;
  /** Null: none. */
  readonly limit: number | null;
}

export function exitsOf(r: Random): ExitWish {
  const distances = [0, 300, 300, 2_000, 10_000, 40_000, -500];
  const limit = r.below(3) === 0 ? r.pick([-1_000, 0, 1_000]) : null;
  return { profit: r.pick(distances), loss: r.pick(distances), limit };
}

export interface Amendment {
  /** Which of the account's open orders. */
  readonly nth: number;
  /** Price against the mark in ppm, worse for its side when negative; 0: as it was. */
  readonly price: number;
  /** New total in thousandths of what remains; 0: as it was. */
  readonly size: number;
  /** Limit against the order's price, in ppm; 0: as it was. */
  readonly limit: number;
  /** 0: never, −1: as it was. */
  readonly expiresInMs: number;
}

export function termsOf(r: Random, type: string): Terms {
  const isStop = type === "stop";
  const hasLimit = isStop && r.below(2) === 0;
  const timeInForce = timeInForceOf(r, type, hasLimit);
  const isGtc = timeInForce === 0 && (!isStop || hasLimit);
  return {
    isSized: timeInForce === 2 || r.below(2) === 0,
    isBounded: r.below(3) === 0,
    timeInForce,
    expiresInMs: isGtc && r.below(2) === 0 ? r.pick([1_000, 1_400, 3_000, 20_000]) : 0,
    selfTrade: r.pick([0, 0, 1, 2] as const),
    isTakeProfit: isStop && r.below(2) === 0,
    limit: hasLimit ? r.pick([-20_000, -1_000, 0, 1_000, 20_000, 60_000]) : null,
    name: r.below(4),
  };
}

function timeInForceOf(r: Random, type: string, hasLimit: boolean): TimeInForce {
  if (type === "limit") return r.pick([0, 0, 1, 2, 2] as const);
  if (type === "market") return r.pick([1, 2] as const);
  return hasLimit ? r.pick([0, 0, 1] as const) : 1;
}

export function amendmentOf(r: Random): Amendment {
  return {
    nth: r.below(8),
    price: r.pick([0, 0, -20_000, -3_000, -500, 500, 3_000]),
    size: r.pick([0, 0, 300, 1_000, 1_000, 1_500, 3_000]),
    limit: r.pick([0, 0, 0, -1_000, 1_000]),
    expiresInMs: r.pick([-1, -1, -1, 0, 2_000, 20_000]),
  };
}

export function marginOf(r: Random): { who: number; part: number } {
  // Of the wallet when added, of the margin when removed.
  return { who: r.below(TRADERS), part: r.pick([1, 50, 300, 1_100, -1, -50, -200, -500, -900]) };
}
