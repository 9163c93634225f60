/**
 * What CCXT documents of its structures, and checks of them in its own tests, which its package does not
 * contain: which fields have a value, of which type, and how they relate.
 */

import type {
  Balances,
  Currency,
  Exchange,
  LedgerEntry,
  Market,
  Order,
  Position,
  Ticker,
  Trade,
  Transaction,
} from "ccxt";
import { expect } from "vitest";

type Entry = Readonly<Record<string, unknown>>;
type FieldTypes = Readonly<Record<string, "string" | "number" | "boolean" | "object">>;

export interface Shape {
  /** Fields that must have a value, with the type of it. */
  readonly needed: FieldTypes;
  /** Fields that must be there, but may be undefined. */
  readonly optional?: FieldTypes;
}

/** The bounds of CCXT's tests: the first Bitcoin block, and the end of 32-bit seconds. */
const TIMES = { first: 1_230_940_800_000, last: 2_147_483_648_000 };

export function expectShape(value: unknown, { needed, optional = {} }: Shape): void {
  const entry: Entry = Object(value);
  for (const [key, type] of Object.entries(needed)) {
    expect(typeof entry[key], `${key} of ${JSON.stringify(value)}`).toBe(type);
  }
  for (const [key, type] of Object.entries(optional)) {
    expect(Object.keys(entry), JSON.stringify(value)).toContain(key);
    if (entry[key] !== undefined) expect(typeof entry[key], key).toBe(type);
  }
  for (const [key, one] of Object.entries(entry)) {
    // CCXT says undefined for what is missing, never null, and has no other numbers.
    expect(one, key).not.toBeNull();
    if (typeof one === "number") expect(Number.isFinite(one), key).toBe(true);
  }
  if (entry.timestamp === undefined) return;
  const timestamp = Number(entry.timestamp);
  expect(Number.isInteger(timestamp)).toBe(true);
  expect(timestamp > TIMES.first && timestamp < TIMES.last).toBe(true);
  expect(entry.datetime).toBe(new Date(timestamp).toISOString());
}

export function expectAscending(entries: readonly { timestamp?: number }[]): void {
  const times = entries.map(({ timestamp }) => timestamp ?? 0);
  expect(times).toEqual([...times].sort((a, b) => a - b));
}

function expectAmong(value: unknown, allowed: readonly unknown[]): void {
  expect(allowed).toContain(value);
}

function expectPositive(entry: object, ...names: string[]): void {
  for (const name of names) {
    const value: unknown = Reflect.get(entry, name);
    if (value !== undefined) expect(value, name).toBeGreaterThan(0);
  }
}

function expectNotNegative(entry: object, ...names: string[]): void {
  for (const name of names) {
    const value: unknown = Reflect.get(entry, name);
    if (value !== undefined) expect(value, name).toBeGreaterThanOrEqual(0);
  }
}

/** A code that `exchange.currency` knows. */
function expectCode(exchange: Exchange, code: string | undefined): void {
  expect(Object.keys(exchange.currencies)).toContain(code);
  expect(exchange.currency(code ?? "").code).toBe(code);
}

function expectFee(exchange: Exchange, fee: { cost?: unknown; currency?: unknown } | undefined) {
  // CCXT gives public trades a fee without a value.
  if (fee?.cost === undefined) return;
  expect(typeof fee.cost).toBe("number");
  expectCode(exchange, String(fee.currency));
}

const TIME = { timestamp: "number", datetime: "string" } as const;

export function expectTrade(exchange: Exchange, trade: Trade | undefined): void {
  expectShape(trade, {
    needed: {
      ...TIME,
      info: "object",
      id: "string",
      symbol: "string",
      side: "string",
      price: "number",
      amount: "number",
      cost: "number",
      fees: "object",
    },
    optional: { order: "string", takerOrMaker: "string", fee: "object", type: "string" },
  });
  if (trade === undefined) return;
  const { side, takerOrMaker, price = 0, amount = 0, fee } = trade;
  expectAmong(side, ["buy", "sell"]);
  expectAmong(takerOrMaker, ["taker", "maker"]);
  expectPositive(trade, "price", "amount", "cost");
  expect(trade.cost).toBeCloseTo(price * amount, 6);
  expectFee(exchange, fee);
}

/** An order as CCXT's calls return it that have all of it. */
export function expectOrder(exchange: Exchange, value: unknown): void {
  const order: Order = Object(value);
  expectShape(order, {
    needed: {
      ...TIME,
      info: "object",
      id: "string",
      symbol: "string",
      type: "string",
      timeInForce: "string",
      postOnly: "boolean",
      reduceOnly: "boolean",
      side: "string",
      amount: "number",
      cost: "number",
      filled: "number",
      remaining: "number",
      status: "string",
      lastUpdateTimestamp: "number",
    },
    optional: {
      clientOrderId: "string",
      lastTradeTimestamp: "number",
      price: "number",
      triggerPrice: "number",
      average: "number",
      fee: "object",
      trades: "object",
    },
  });
  const { type, amount = 0, filled = 0, remaining = 0, average = 0, cost, fee, status } = order;
  expectAmong(type, ["limit", "market"]);
  expectAmong(order.timeInForce, ["GTC", "IOC", "FOK", "PO"]);
  expectAmong(status, ["open", "closed", "canceled", "expired", "rejected"]);
  expectAmong(order.side, ["buy", "sell"]);
  expectPositive(order, "price", "triggerPrice", "average");
  expectNotNegative(order, "cost", "filled", "remaining");
  expect(amount).toBeGreaterThanOrEqual(filled);
  expect(amount).toBeCloseTo(filled + remaining, 9);
  if (filled > 0) {
    expect(cost).toBeCloseTo(average * filled, 6);
    expect(average).toBeGreaterThan(0);
  }
  if (status === "closed") expect(remaining).toBe(0);
  if (type === "limit") expect(order.price).toBeTypeOf("number");
  expectFee(exchange, fee);
}

export function expectPosition(position: Position | undefined): void {
  expectShape(position, {
    needed: {
      ...TIME,
      info: "object",
      symbol: "string",
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
  });
  if (position === undefined) return;
  expectAmong(position.side, ["long", "short"]);
  expectAmong(position.marginMode, ["isolated"]);
  expectPositive(position, "leverage", "initialMargin", "maintenanceMargin", "entryPrice");
  expectPositive(position, "notional", "contracts", "contractSize", "marginRatio", "markPrice");
  expectPositive(position, "liquidationPrice", "collateral");
}

/** `isQuoted`: of a market with both sides of a book. */
export function expectTicker(ticker: Ticker | undefined, isQuoted = false): void {
  const quotes: FieldTypes = {
    bid: "number",
    bidVolume: "number",
    ask: "number",
    askVolume: "number",
  };
  expectShape(ticker, {
    needed: { ...TIME, info: "object", symbol: "string", ...(isQuoted ? quotes : {}) },
    optional: {
      ...quotes,
      high: "number",
      low: "number",
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
  });
  if (ticker === undefined) return;
  expect(ticker.close).toBe(ticker.last);
  expectPositive(ticker, "open", "high", "low", "close", "bid", "ask", "average", "vwap");
  expectNotNegative(ticker, "bidVolume", "askVolume", "baseVolume", "quoteVolume");
  const { bid, ask, baseVolume = 0, quoteVolume, high = 0, low = 0 } = ticker;
  if (bid !== undefined && ask !== undefined) expect(ask).toBeGreaterThan(bid);
  expect(high).toBeGreaterThanOrEqual(low);
  if (quoteVolume === undefined) return;
  expect(quoteVolume).toBeGreaterThanOrEqual(baseVolume * low * (1 - 1e-12));
  expect(quoteVolume).toBeLessThanOrEqual(baseVolume * high * (1 + 1e-12));
  if (baseVolume > 0) expect(ticker.vwap).toBeCloseTo(quoteVolume / baseVolume, 6);
}

export function expectLedgerEntry(exchange: Exchange, entry: LedgerEntry): void {
  expectShape(entry, {
    needed: {
      ...TIME,
      info: "object",
      id: "string",
      account: "string",
      direction: "string",
      type: "string",
      currency: "string",
      amount: "number",
      before: "number",
      after: "number",
      status: "string",
      fee: "object",
    },
    optional: { referenceId: "string", referenceAccount: "string" },
  });
  const { direction, amount = 0, before = 0, after = 0 } = entry;
  expectAmong(direction, ["in", "out"]);
  expectAmong(entry.type, [
    "trade",
    "transaction",
    "margin",
    "cashback",
    "referral",
    "transfer",
    "fee",
  ]);
  expectNotNegative(entry, "amount", "before", "after");
  expect(after - before).toBeCloseTo(direction === "in" ? amount : -amount, 6);
  expectCode(exchange, entry.currency);
  expectFee(exchange, entry.fee);
}

export function expectTransaction(exchange: Exchange, entry: Transaction | undefined): void {
  expectShape(entry, {
    needed: {
      ...TIME,
      info: "object",
      id: "string",
      // A withdrawal has none until it is on the chain.
      ...(entry?.type === "withdrawal" ? {} : { txid: "string" }),
      network: "string",
      type: "string",
      amount: "number",
      currency: "string",
      status: "string",
      updated: "number",
      fee: "object",
    },
    optional: {
      address: "string",
      addressTo: "string",
      addressFrom: "string",
      tag: "string",
      tagTo: "string",
      tagFrom: "string",
    },
  });
  if (entry === undefined) return;
  expectAmong(entry.status, ["ok", "pending", "failed", "canceled"]);
  expectAmong(entry.type, ["deposit", "withdrawal"]);
  expectNotNegative(entry, "amount");
  expect(entry.updated).toBeGreaterThanOrEqual(entry.timestamp ?? 0);
  expectCode(exchange, entry.currency);
  expectFee(exchange, entry.fee);
}

export function expectBalance(exchange: Exchange, balance: Balances): void {
  const { free, used, total }: Record<string, Record<string, number>> = Object(balance);
  expect(Object.keys(total ?? {}).length).toBeGreaterThan(0);
  for (const code of Object.keys(total ?? {})) {
    expectCode(exchange, code);
    expect((free?.[code] ?? 0) + (used?.[code] ?? 0)).toBeCloseTo(total?.[code] ?? 0, 9);
  }
}

export function expectCurrency(exchange: Exchange, currency: Currency): void {
  if (currency === undefined) throw new Error("no currency");
  const fields: FieldTypes = {
    info: "object",
    id: "string",
    deposit: "boolean",
    withdraw: "boolean",
    precision: "number",
    limits: "object",
  };
  const needed: FieldTypes = { ...fields, code: "string", networks: "object" };
  const optional: FieldTypes = { name: "string", fee: "number", type: "string", active: "boolean" };
  expectShape(currency, { needed, optional });
  expectCode(exchange, currency.code);
  expect(exchange.safeCurrency(currency.id).code).toBe(currency.code);
  const networks = Object.values(currency.networks ?? {});
  for (const entry of networks) {
    const ofNetwork: FieldTypes = { fee: "number", active: "boolean" };
    expectShape(entry, { needed: { ...fields, network: "string" }, optional: ofNetwork });
  }
  for (const { deposit, withdraw, active, precision, limits } of [currency, ...networks]) {
    // Neither in nor out means not active, both mean active.
    if (deposit === withdraw) expect(active).toBe(deposit);
    expect(precision).toBeGreaterThan(0);
    for (const { min = 0, max = min } of [limits?.deposit ?? {}, limits?.withdraw ?? {}]) {
      expect(max).toBeGreaterThanOrEqual(min);
    }
  }
}

export function expectMarket(exchange: Exchange, market: Market): void {
  if (market === undefined) throw new Error("no market");
  expectShape(market, {
    needed: {
      info: "object",
      id: "string",
      symbol: "string",
      base: "string",
      quote: "string",
      settle: "string",
      baseId: "string",
      quoteId: "string",
      settleId: "string",
      taker: "number",
      maker: "number",
      type: "string",
      subType: "string",
      active: "boolean",
      contractSize: "number",
      precision: "object",
      limits: "object",
      marginModes: "object",
    },
    optional: {
      expiry: "number",
      expiryDatetime: "string",
      strike: "number",
      optionType: "string",
      created: "number",
    },
  });
  expect(market).toMatchObject({
    symbol: `${market.base}/${market.quote}:${market.settle}`,
    type: "swap",
    subType: "linear",
    swap: true,
    contract: true,
    linear: true,
    inverse: false,
    spot: false,
    margin: false,
    future: false,
    option: false,
    expiry: undefined,
    strike: undefined,
  });
  for (const [code, id] of [
    [market.base, market.baseId],
    [market.quote, market.quoteId],
    [market.settle, market.settleId],
  ]) {
    expectCode(exchange, code);
    expect(exchange.currency(code ?? "").id).toBe(id);
  }
  expectPositive(market.precision, "amount", "price");
  for (const { min = 0, max = min } of Object.values(market.limits)) {
    expect(min).toBeGreaterThanOrEqual(0);
    expect(max).toBeGreaterThanOrEqual(min);
  }
}
