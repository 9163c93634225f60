/** What a run was worth: read from the history of the venue and what the recorder has kept. */

import type { Fill, LedgerEntry, Order } from "@perpgate/protocol";
import type { Venue } from "@perpgate/venue";
import type { RequestRecord, RunRecorder, TraderRecord } from "./run-recorder.js";

const REPORT_FORMAT = "perpgate-sandbox-run/1";

export interface RunReport {
  readonly format: typeof REPORT_FORMAT;
  readonly seed: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly traders: readonly TraderReport[];
  readonly requests: readonly RequestReport[];
  /** Errors that the gateways have sent to clients, by code. */
  readonly refusals: Readonly<Record<string, number>>;
}

/** Money in dollars, slippage in basis points of the notional: above 0 is worse for the trader. */
export interface TraderReport {
  readonly address: string;
  readonly pnl: number;
  readonly maxDrawdown: number;
  readonly fees: number;
  /** Received; negative: paid. */
  readonly funding: number;
  readonly volume: number;
  readonly fills: number;
  readonly makerFills: number;
  /** Fills that were no order of the trader: liquidations, deleveraging. */
  readonly forcedFills: number;
  readonly slippageToMarkBps: number | null;
  readonly slippageToArrivalBps: number | null;
  readonly orders: number;
  readonly ordersFilled: number;
  readonly ordersCanceled: number;
  /** Of orders that rested, those that still do included. */
  readonly meanMsInBook: number | null;
  readonly maxExposure: number;
  readonly meanExposure: number;
  /** Venue's time, PnL, positions at mark (long above 0). */
  readonly curve: readonly (readonly [timeMs: number, pnl: number, exposure: number])[];
}

export interface RequestReport {
  readonly operation: string;
  readonly count: number;
  readonly refused: number;
  /** Milliseconds of the machine's clock from the gateway's request to the core's answer. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Run {
  readonly seed: number;
  readonly startMs: number;
  readonly nowMs: number;
  readonly venue: Venue;
  readonly recorder: RunRecorder;
}

export function reportOf({ seed, startMs, nowMs, venue, recorder }: Run): RunReport {
  const traders = [...recorder.traders].map(([account, record]) => {
    const now = recorder.sampleOf(account, nowMs);
    const samples = [...record.samples.filter(([timeMs]) => timeMs < nowMs), now];
    return traderReport(venue, account, { ...record, samples }, nowMs);
  });
  return {
    format: REPORT_FORMAT,
    seed,
    startMs,
    endMs: nowMs,
    traders,
    requests: [...recorder.requests].map(([name, record]) => requestReport(name, record)),
    refusals: Object.fromEntries([...recorder.refusals].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function traderReport(
  { views }: Venue,
  account: number,
  { address, samples, marks, arrivals }: TraderRecord,
  nowMs: number,
): TraderReport {
  const fills = allOf<Fill>(
    (before) => views.fills(account, page(before)),
    ({ id }) => id,
  );
  const orders = allOf<Order>(
    (before) => views.orders(account, page(before)),
    ({ orderId }) => orderId,
  );
  const entries = allOf<LedgerEntry>(
    (before) => views.ledger(account, page(before)),
    ({ id }) => id,
  );
  const byId = new Map(orders.map((order) => [order.orderId, order]));
  const curve = withoutTransfers(samples, entries);
  const exposures = curve.map(([, , exposure]) => Math.abs(exposure));
  const arrivalOf = ({ orderId }: Fill): number | undefined => {
    const order = orderId === null ? undefined : byId.get(orderId);
    // What a trigger meets is known when it is set.
    if (order?.trigger != null) return order.price ?? undefined;
    return order === undefined ? undefined : arrivals.get(Number(order.orderId));
  };
  const rested = orders.filter(({ type, trigger }) => type === "limit" && trigger === null);
  return {
    address,
    pnl: cents(curve.at(-1)?.[1] ?? 0),
    maxDrawdown: cents(maxDrawdown(curve.map(([, pnl]) => pnl))),
    fees: cents(sum(fills.map(({ fee }) => fee))),
    funding: cents(
      sum(entries.filter(({ kind }) => kind === "funding").map(({ amount }) => amount)),
    ),
    volume: cents(sum(fills.map(({ price, size }) => price * size))),
    fills: fills.length,
    makerFills: fills.filter(({ liquidity }) => liquidity === "maker").length,
    forcedFills: fills.filter(({ kind }) => kind !== "order").length,
    slippageToMarkBps: slippage(fills, ({ id }) => marks.get(id)),
    slippageToArrivalBps: slippage(fills, arrivalOf),
    orders: orders.length,
    ordersFilled: orders.filter(({ status }) => status === "filled").length,
    ordersCanceled: orders.filter(({ status }) => status === "canceled").length,
    meanMsInBook: mean(
      rested.map(({ status, createdAt, updatedAt }) =>
        Math.max(0, (status === "resting" ? nowMs : updatedAt) - createdAt),
      ),
    ),
    maxExposure: cents(Math.max(0, ...exposures)),
    meanExposure: cents(mean(exposures) ?? 0),
    curve: curve.map(([timeMs, pnl, exposure]) => [timeMs, cents(pnl), cents(exposure)]),
  };
}

const PAGE = 1_000;
const TRANSFERS = new Set(["deposit", "grant", "withdrawal", "withdrawalFee"]);

function page(before: string | undefined) {
  return { limit: PAGE, before };
}

/** All pages of a list that has the newest first. */
function allOf<T>(read: (before: string | undefined) => T[], idOf: (row: T) => string): T[] {
  const rows: T[] = [];
  for (let before: string | undefined; ; ) {
    const next = read(before);
    rows.push(...next);
    const last = next.at(-1);
    if (next.length < PAGE || last === undefined) return rows;
    before = idOf(last);
  }
}

/** What came in and went out is no profit. */
function withoutTransfers(
  samples: TraderRecord["samples"],
  entries: readonly LedgerEntry[],
): [number, number, number][] {
  const transfers = entries.filter(({ kind }) => TRANSFERS.has(kind)).toReversed();
  let at = 0;
  let paidIn = 0;
  return samples.map(([timeMs, equity, exposure]) => {
    for (
      let next = transfers[at];
      next !== undefined && next.time <= timeMs;
      next = transfers[at]
    ) {
      paidIn += next.amount;
      at++;
    }
    return [timeMs, equity - paidIn, exposure];
  });
}

/** Weighted by notional; a price that is not known does not count. */
function slippage(
  fills: readonly Fill[],
  priceOf: (fill: Fill) => number | undefined,
): number | null {
  let lost = 0;
  let notional = 0;
  for (const fill of fills) {
    const reference = priceOf(fill);
    if (reference === undefined || reference === 0) continue;
    const sign = fill.side === "long" ? 1 : -1;
    lost += sign * (fill.price - reference) * fill.size;
    notional += reference * fill.size;
  }
  return notional === 0 ? null : Math.round((lost / notional) * 1e6) / 100;
}

function maxDrawdown(pnls: readonly number[]): number {
  let top = 0;
  let worst = 0;
  for (const pnl of pnls) {
    top = Math.max(top, pnl);
    worst = Math.max(worst, top - pnl);
  }
  return worst;
}

function requestReport(operation: string, record: RequestRecord): RequestReport {
  const sorted = record.elapsedMs.toSorted((a, b) => a - b);
  const quantile = (part: number) =>
    cents(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
  const { count, refusals } = record;
  return {
    operation,
    count,
    refused: sum([...refusals.values()]),
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
  };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.round(sum(values) / values.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function cents(value: number): number {
  return Math.round(value * 100) / 100;
}

/** What was read from a file. @throws RangeError unless it is a report. */
export function parseReport(text: string, name: string): RunReport {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RangeError(`${name}: no JSON`);
  }
  if (isReport(value)) return value;
  throw new RangeError(`${name}: no report of a run, which says "format": "${REPORT_FORMAT}"`);
}

function isReport(value: unknown): value is RunReport {
  return (
    typeof value === "object" &&
    value !== null &&
    "format" in value &&
    value.format === REPORT_FORMAT
  );
}
