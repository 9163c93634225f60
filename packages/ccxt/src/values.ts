/** Small conversions between the venue's values and CCXT's, in which what is missing is undefined. */

import { errors } from "ccxt";

type Side = "long" | "short";

export function known<T>(value: T | null | undefined): T | undefined {
  return value === null ? undefined : value;
}

/** The venue's 0 for "no price yet". */
export function priceOrNone(price: number): number | undefined {
  return price === 0 ? undefined : price;
}

/** @throws InvalidOrder for any other word: `short` must not buy. */
export function venueSide(side: string): Side {
  const word = side.toLowerCase();
  if (word === "buy") return "long";
  if (word === "sell") return "short";
  throw new errors.InvalidOrder(`the side is buy or sell, not ${side}`);
}

export function ccxtSide(side: Side): "buy" | "sell" {
  return side === "long" ? "buy" : "sell";
}

/** `2 * 0.1 + 0.1` and the like: products of exact decimals without their float noise. */
export function exact(value: number): number {
  return Number(value.toPrecision(14));
}

/** A page oldest first, as CCXT returns lists; the venue sends it so if the request had a cursor `after`. */
export function oldestFirst<T>(page: readonly T[], { after }: { after?: unknown }): T[] {
  return after === undefined ? [...page].reverse() : [...page];
}

/** Leaves out what is undefined, which the SDK's options do not take. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: { [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const key of Object.keys(fields)) {
    if (Reflect.get(fields, key) !== undefined) Reflect.set(kept, key, Reflect.get(fields, key));
  }
  return kept;
}

/** Of `params` with a `until`: CCXT includes that millisecond, the venue's `to` does not. */
export function untilOf(params: Readonly<Record<string, unknown>>): number | undefined {
  return typeof params.until === "number" ? params.until + 1 : undefined;
}

/** Of `since`, for lists whose entries are named by their time: `after` leaves its own millisecond out. */
export function timeBefore(since: number | undefined): number | undefined {
  return since === undefined ? undefined : Math.max(0, since - 1);
}

export function isoOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
