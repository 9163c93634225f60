/**
 * What an account was worth over time. The venue keeps no such list: it follows from the account's ledger,
 * fills and payments of funding, and from the market's mark and hours of funding.
 *
 * The walk goes backward from what the venue says now: the last point is the venue's own figure, and what
 * is older than the entries that were read changes nothing.
 */

import type {
  Account,
  Candle,
  Fill,
  FundingPayment,
  FundingPoint,
  LedgerEntry,
  Position,
  Resolution,
} from "@perpgate/protocol";
import { RESOLUTION_MS } from "@perpgate/protocol/core";
import type { AccountReader, MarketReader } from "./reads.js";
import type { CallOptions } from "./retry.js";

export interface EquityPoint {
  /** Unix milliseconds. */
  readonly time: number;
  /** Dollars: the balance, and the unrealised PnL at the mark. */
  readonly equity: number;
  /** Dollars since the first point, without what was deposited and withdrawn. */
  readonly pnl: number;
}

export interface EquityHistory {
  /** Oldest first: one for the end of each candle, then one for now. */
  readonly points: readonly EquityPoint[];
  /** Whether it begins later than asked: more entries than are read, a settled market, or no mark. */
  readonly isCut: boolean;
}

export interface EquityOptions extends CallOptions {
  /** The distance of the points. Default: `1h`. */
  readonly resolution?: Resolution;
  /** How many points before the last, 1 to 1,000. Default: 500. */
  readonly limit?: number;
}

/** What the venue says, lists newest first. */
interface Records {
  readonly account: Pick<Account, "balance" | "equity">;
  readonly positions: readonly Position[];
  /** Without the entry of accrued funding. */
  readonly ledger: readonly LedgerEntry[];
  readonly fills: readonly Fill[];
  readonly payments: readonly FundingPayment[];
  /** By market. */
  readonly marks: ReadonlyMap<string, readonly Candle[]>;
  readonly funding: ReadonlyMap<string, readonly FundingPoint[]>;
}

interface Span {
  /** All entries of this time or later are among the records. */
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
}

/** Of one market; money in micros. */
interface Holding {
  size: number;
  cost: number;
  /** Funding that counts and is not booked yet. */
  accrued: number;
}

const PAGE = 1_000;
/** Entries of a list that are read. */
const MOST_ENTRIES = 10_000;
const TRIES = 10;
const TRANSFERS: ReadonlySet<LedgerEntry["kind"]> = new Set([
  "deposit",
  "grant",
  "withdrawal",
  "withdrawalFee",
]);

function micros(dollars: number): number {
  return Math.round(dollars * 1e6);
}

/**
 * Equity and PnL of an account at the end of each candle, and now.
 *
 * @throws Error if the account changes too fast for its lists to be read at one moment.
 *
 * @example
 * const { points } = await equityHistory(client, session, { resolution: "1h", limit: 24 });
 * console.log(points.at(0)?.equity, points.at(-1)?.equity, points.at(-1)?.pnl);
 */
export async function equityHistory(
  client: Pick<MarketReader, "time" | "candles" | "funding">,
  session: Pick<AccountReader, "account" | "positions" | "ledger" | "fills" | "fundingPayments">,
  { resolution = "1h", limit = 500, ...options }: EquityOptions = {},
): Promise<EquityHistory> {
  const stepMs = RESOLUTION_MS[resolution];
  const { account, positions, head, to } = await readMoment(client, session, options);
  const asked = (Math.floor(to / stepMs) - limit + 1) * stepMs;
  const since = { from: asked, ...options };
  const [ledger, fills, payments] = await Promise.all([
    readPages((page) => session.ledger({ ...since, ...page }), idOf),
    readPages((page) => session.fills({ ...since, ...page }), idOf),
    readPages((page) => session.fundingPayments({ ...since, ...page }), idOf),
  ]);
  const from = Math.max(asked, ...[ledger, fills, payments].map(completeFrom));
  const upToHead = <Row extends { readonly id: string }>({ rows }: Pages<Row>) =>
    rows.filter(({ id }) => seqOf(id) <= head);
  const own = upToHead(fills);
  const marks = new Map<string, readonly Candle[]>();
  const funding = new Map<string, readonly FundingPoint[]>();
  for (const symbol of new Set([...positions, ...own].map((row) => row.symbol))) {
    const price = { price: "mark", resolution, limit: PAGE, ...options } as const;
    marks.set(symbol, await client.candles(symbol, price));
    const hours = await readPages(
      ({ before, ...page }) =>
        client.funding(symbol, {
          ...since,
          ...page,
          ...(before === undefined ? {} : { before: Number(before) }),
        }),
      ({ time }) => String(time),
    );
    funding.set(symbol, hours.rows);
  }
  const entries = upToHead(ledger).filter(({ accrued }) => !accrued);
  const accrued = payments.rows.filter((payment) => payment.accrued);
  const booked = upToHead(payments).filter((payment) => !payment.accrued);
  const points = equityPoints(
    {
      account,
      positions,
      ledger: entries,
      fills: own,
      payments: [...accrued, ...booked],
      marks,
      funding,
    },
    { from, to, stepMs },
  );
  const isCut = (points[0]?.time ?? to) > asked;
  return { points: withoutBeginning(points), isCut };
}

/** Pure: the walk back over the records. */
export function equityPoints(records: Records, { from, to, stepMs }: Span): EquityPoint[] {
  const holdings = new Map<string, Holding>();
  const holdingOf = (symbol: string): Holding => {
    const known = holdings.get(symbol) ?? { size: 0, cost: 0, accrued: 0 };
    holdings.set(symbol, known);
    return known;
  };
  const { account, positions, ledger, fills, payments, marks, funding } = records;
  for (const { symbol, size, markPrice, unrealizedPnl } of positions) {
    const cost = micros(size * markPrice) - micros(unrealizedPnl);
    Object.assign(holdingOf(symbol), { size, cost });
  }
  let balance = micros(account.balance);
  /** Deposited since, less what was withdrawn. */
  let transferred = 0;
  let isKnown = true;
  const undone: { readonly time: number; readonly undo: () => void }[] = [];
  const toUndo = (time: number, undo: () => void) => undone.push({ time, undo });
  for (const { time, amount, kind } of ledger) {
    toUndo(time, () => {
      balance -= micros(amount);
      if (TRANSFERS.has(kind)) transferred += micros(amount);
      // Nothing says what was held before.
      if (kind === "settlement") isKnown = false;
    });
  }
  for (const { time, symbol, side, price, size, realizedPnl } of fills) {
    const bought = side === "long" ? size : -size;
    toUndo(time, () => {
      const held = holdingOf(symbol);
      held.size = Math.round((held.size - bought) * 1e8) / 1e8;
      held.cost -= micros(bought * price) + micros(realizedPnl);
    });
  }
  const amounts = new Map(ledger.map(({ id, amount }) => [id, amount]));
  for (const { id, time, symbol, amount, accrued } of payments) {
    const held = holdingOf(symbol);
    if (accrued) {
      // The balance has it already.
      balance -= micros(amount);
      held.accrued = micros(amount);
      continue;
    }
    toUndo(time, () => {
      // What the margin could not pay has raised the cost.
      held.cost -= micros(amounts.get(id) ?? amount) - micros(amount);
      held.accrued = micros(amount);
    });
  }
  for (const [symbol, hours] of funding) {
    for (const { time, rate, markPrice } of hours) {
      toUndo(time, () => {
        const held = holdingOf(symbol);
        held.accrued += micros(held.size * markPrice * rate);
      });
    }
  }
  // Entries of the same time come after the hour's end, and were added before: the sort is stable.
  undone.sort((a, b) => b.time - a.time);
  const equity = micros(account.equity);
  const values = [{ time: to, equity, value: equity }];
  const unread = undone.values();
  let next = unread.next();
  for (let time = (Math.ceil(to / stepMs) - 1) * stepMs; time >= from; time -= stepMs) {
    for (; next.done !== true && next.value.time >= time; next = unread.next()) next.value.undo();
    const worth = isKnown ? worthOf(holdings, marks, time) : undefined;
    if (worth === undefined) break;
    const now = balance + worth;
    values.push({ time, equity: now, value: now + transferred });
  }
  const begin = values.at(-1)?.value ?? equity;
  return values
    .map((at) => ({ time: at.time, equity: at.equity / 1e6, pnl: (at.value - begin) / 1e6 }))
    .reverse();
}

/** Unrealised PnL and accrued funding just before a time; undefined if a mark is missing. */
function worthOf(
  holdings: ReadonlyMap<string, Holding>,
  marks: Records["marks"],
  time: number,
): number | undefined {
  let sum = 0;
  for (const [symbol, { size, cost, accrued }] of holdings) {
    if (size === 0) continue;
    const mark = marks.get(symbol)?.find((candle) => candle.time < time)?.close;
    if (mark === undefined) return undefined;
    sum += micros(size * mark) - cost + accrued;
  }
  return sum;
}

interface Moment {
  readonly account: Account;
  readonly positions: readonly Position[];
  /** The log position of the account's newest entry. */
  readonly head: number;
  readonly to: number;
}

/** Account and positions at one moment: nothing was booked between the first read and the last. */
async function readMoment(
  client: Pick<MarketReader, "time">,
  session: Pick<AccountReader, "account" | "positions" | "ledger">,
  options: CallOptions,
): Promise<Moment> {
  const readHead = async () => {
    // One may be the accrued funding.
    const newest = await session.ledger({ limit: 2, ...options });
    return seqOf(newest.find(({ accrued }) => !accrued)?.id ?? "0-0");
  };
  let head = await readHead();
  for (let turn = 0; turn < TRIES; turn++) {
    const [account, positions] = await Promise.all([
      session.account(options),
      session.positions(options),
    ]);
    const known = head;
    head = await readHead();
    if (head === known) return { account, positions, head, to: await client.time(options) };
  }
  throw new Error("the account changes too fast for its lists to be read at one moment");
}

interface Pages<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  readonly isCut: boolean;
}

async function readPages<Row>(
  read: (page: { readonly limit: number; readonly before?: string }) => Promise<readonly Row[]>,
  cursorOf: (row: Row) => string,
): Promise<Pages<Row>> {
  const rows: Row[] = [];
  for (;;) {
    const last = rows.at(-1);
    const before = last === undefined ? {} : { before: cursorOf(last) };
    const page = await read({ limit: PAGE, ...before });
    rows.push(...page);
    if (page.length < PAGE) return { rows, isCut: false };
    if (rows.length >= MOST_ENTRIES) return { rows, isCut: true };
  }
}

/** Of a list that is cut, entries of the oldest one's time may be missing. */
function completeFrom({ rows, isCut }: Pages<{ readonly time: number }>): number {
  return isCut ? (rows.at(-1)?.time ?? 0) + 1 : 0;
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

function seqOf(id: string): number {
  return Number(id.split("-")[0]);
}

/** Of the points before the first deposit, the last one. */
function withoutBeginning(points: readonly EquityPoint[]): readonly EquityPoint[] {
  const first = points.findIndex(({ equity }) => equity !== 0);
  return points.slice(Math.max(0, first - 1));
}
