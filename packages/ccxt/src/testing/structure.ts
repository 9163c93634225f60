/** What CCXT's own tests of its structures check, for the values of one call. */

import { expect } from "vitest";

type Entry = Readonly<Record<string, unknown>>;

export interface Shape {
  /** Fields that must have a value, with the type of it. */
  readonly needed: Readonly<Record<string, "string" | "number" | "boolean" | "object">>;
  /** Fields that must be there, but may be undefined. */
  readonly optional?: Readonly<Record<string, "string" | "number" | "boolean" | "object">>;
}

export function expectShape(value: unknown, { needed, optional = {} }: Shape): void {
  const entry: Entry = Object(value);
  for (const [key, type] of Object.entries(needed)) {
    expect(typeof entry[key], `${key} of ${JSON.stringify(value)}`).toBe(type);
  }
  for (const [key, type] of Object.entries(optional)) {
    expect(Object.keys(entry), JSON.stringify(value)).toContain(key);
    if (entry[key] !== undefined) expect(typeof entry[key], key).toBe(type);
  }
  // CCXT says undefined for what is missing, never null.
  for (const [key, one] of Object.entries(entry)) expect(one, key).not.toBeNull();
  if (entry.timestamp !== undefined) {
    expect(Number.isInteger(entry.timestamp)).toBe(true);
    expect(entry.datetime).toBe(new Date(Number(entry.timestamp)).toISOString());
  }
}

export function expectAscending(entries: readonly { timestamp?: number }[]): void {
  const times = entries.map(({ timestamp }) => timestamp ?? 0);
  expect(times).toEqual([...times].sort((a, b) => a - b));
}

export const TRADE: Shape = {
  needed: {
    info: "object",
    id: "string",
    timestamp: "number",
    datetime: "string",
    symbol: "string",
    side: "string",
    price: "number",
    amount: "number",
    cost: "number",
    fees: "object",
  },
  optional: { order: "string", takerOrMaker: "string", fee: "object", type: "string" },
};

export const ORDER: Shape = {
  needed: { info: "object", id: "string", symbol: "string", status: "string" },
  optional: {
    clientOrderId: "string",
    timestamp: "number",
    datetime: "string",
    lastTradeTimestamp: "number",
    type: "string",
    timeInForce: "string",
    postOnly: "boolean",
    reduceOnly: "boolean",
    side: "string",
    price: "number",
    triggerPrice: "number",
    amount: "number",
    cost: "number",
    average: "number",
    filled: "number",
    remaining: "number",
    fee: "object",
    trades: "object",
  },
};

export const POSITION: Shape = {
  needed: {
    info: "object",
    symbol: "string",
    timestamp: "number",
    datetime: "string",
    initialMargin: "number",
    initialMarginPercentage: "number",
    maintenanceMargin: "number",
    maintenanceMarginPercentage: "number",
    entryPrice: "number",
    notional: "number",
    leverage: "number",
    unrealizedPnl: "number",
    contracts: "number",
    contractSize: "number",
    marginRatio: "number",
    markPrice: "number",
    collateral: "number",
    marginMode: "string",
    side: "string",
    percentage: "number",
  },
  optional: { liquidationPrice: "number", hedged: "boolean" },
};

export const TICKER: Shape = {
  needed: { info: "object", symbol: "string", timestamp: "number", datetime: "string" },
  optional: {
    high: "number",
    low: "number",
    bid: "number",
    bidVolume: "number",
    ask: "number",
    askVolume: "number",
    vwap: "number",
    open: "number",
    close: "number",
    last: "number",
    previousClose: "number",
    change: "number",
    percentage: "number",
    average: "number",
    baseVolume: "number",
    quoteVolume: "number",
    markPrice: "number",
    indexPrice: "number",
  },
};
