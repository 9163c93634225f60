/**
 * An account's ledger and its payments of funding. Funding that has accrued and is not booked yet counts
 * in the balance; it comes first where a list begins with the newest, so that the amounts add up.
 */

import { type Market, settledFigures } from "@perpgate/engine/reading";
import type { FundingPayment, LedgerEntry, LedgerKind } from "@perpgate/protocol";
import { fromMicros } from "@perpgate/protocol/core";
import type { Place } from "../history/history-table.js";
import { MAX_ORDINAL, NO_MARKET } from "../history/keys.js";
import { LEDGER, LEDGER_ROW } from "../history/ledger-projection.js";
import type { LedgerItem } from "../history/ledger-reader.js";
import type { PlacedRow, RowPageQuery } from "../history/row-pages.js";
import { balanceOf } from "./account-view.js";
import { marketNumbers, pageOf, type RowsQuery } from "./row-query.js";
import { stateOf, unitsOf, type VenueSource } from "./venue-source.js";

/** In the order of `LEDGER`. */
const KINDS: readonly LedgerKind[] = [
  "deposit",
  "grant",
  "fee",
  "pnl",
  "funding",
  "liquidation",
  "adl",
  "settlement",
  "margin",
  "withdrawal",
  "withdrawalFee",
];
const MAX_ROWS = 1_000;

/** `onRead` gets the number of rows that were read. */
export function ledgerView(
  source: VenueSource,
  account: number,
  query: RowsQuery,
  onRead: (rows: number) => void,
): LedgerEntry[] {
  const page = pageOf(query, MAX_ROWS);
  const listed = marketNumbers(source, query.symbol);
  const markets = query.symbol === undefined ? [...listed, NO_MARKET] : listed;
  const accrued = accruedEntry(source, account, listed, query);
  const limit = page.limit - accrued.length;
  const items =
    limit === 0 ? [] : source.history.ledger(account, markets, { ...page, limit }, onRead);
  return [...accrued, ...items.map((item) => entryOf(source, item))];
}

/** An item of the ledger. */
export function entryOf(source: VenueSource, item: LedgerItem): LedgerEntry {
  const { seq, ordinal, kind, market, detail, fill } = item;
  return {
    id: `${seq}-${ordinal}`,
    kind: KINDS[kind] ?? "pnl",
    symbol: market === NO_MARKET ? null : unitsOf(source, market).symbol,
    amount: fromMicros(item.amount),
    balance: fromMicros(item.balance),
    marginMoved: kind === LEDGER.MARGIN ? fromMicros(detail) : null,
    reference: referenceOf(seq, kind, detail, fill),
    accrued: false,
    time: item.timeMs,
  };
}

/** Their detail is the deposit or the withdrawal. */
const NAMED_KINDS: readonly number[] = [LEDGER.DEPOSIT, LEDGER.WITHDRAWAL, LEDGER.WITHDRAWAL_FEE];

function referenceOf(seq: number, kind: number, detail: number, fill: number | null): string {
  if (fill !== null) return `${seq}-${fill}`;
  return String(NAMED_KINDS.includes(kind) ? detail : seq);
}

/** All accrued funding as one entry, if there is any and the query begins with the newest. */
function accruedEntry(
  source: VenueSource,
  account: number,
  markets: readonly number[],
  query: RowsQuery,
): LedgerEntry[] {
  const owed = accruedIn(source, account, markets, query);
  if (owed.length === 0) return [];
  const { seq, timeMs } = stateOf(source);
  const [only] = owed;
  return [
    {
      id: `${seq}-${MAX_ORDINAL}`,
      kind: "funding",
      symbol: owed.length === 1 && only !== undefined ? unitsOf(source, only.market).symbol : null,
      amount: fromMicros(owed.reduce((sum, { marginMicros }) => sum + marginMicros, 0)),
      balance: fromMicros(balanceOf(stateOf(source), account)),
      marginMoved: null,
      reference: String(seq),
      accrued: true,
      time: timeMs,
    },
  ];
}

export function fundingPaymentsView(
  source: VenueSource,
  account: number,
  query: RowsQuery,
): FundingPayment[] {
  const page = pageOf(query, MAX_ROWS);
  const markets = marketNumbers(source, query.symbol);
  const { seq, timeMs } = stateOf(source);
  const last = lastAccrued(page);
  const accrued = accruedIn(
    source,
    account,
    last === undefined
      ? markets
      : markets.filter((market) => accruedOrdinal(market) < last.ordinal),
    last === undefined ? query : { ...query, before: undefined },
  )
    .slice(0, page.limit)
    .map(({ market, paidMicros }) => ({
      // With the seq of the first page: what is booked after that is not listed a second time.
      id: `${Math.min(seq, last?.seq ?? seq)}-${accruedOrdinal(market)}`,
      symbol: unitsOf(source, market).symbol,
      amount: fromMicros(0 - paidMicros),
      accrued: true,
      time: timeMs,
    }));
  const limit = page.limit - accrued.length;
  if (limit === 0) return accrued;
  const rows = source.history.fundingPayments(account, markets, { ...page, limit });
  return [...accrued, ...rows.map((placed) => paymentOf(source, placed))];
}

/** A row of the payments of funding. */
export function paymentOf(source: VenueSource, { seq, ordinal, row }: PlacedRow): FundingPayment {
  return {
    id: `${seq}-${ordinal}`,
    symbol: unitsOf(source, row[LEDGER_ROW.MARKET]!).symbol,
    amount: fromMicros(0 - row[LEDGER_ROW.DETAIL]!),
    accrued: false,
    time: row[LEDGER_ROW.TIME]!,
  };
}

/** Above those of all entries of a command. */
function accruedOrdinal(market: number): number {
  return MAX_ORDINAL - market;
}

/** The accrued payment with which the previous page ended; undefined for another beginning. */
function lastAccrued({ before }: RowPageQuery): Place | undefined {
  return before !== undefined && before.ordinal > accruedOrdinal(NO_MARKET) ? before : undefined;
}

interface Accrued {
  readonly market: number;
  /** The change of the margin once it is booked. */
  readonly marginMicros: number;
  readonly paidMicros: number;
}

function accruedIn(
  source: VenueSource,
  account: number,
  markets: readonly number[],
  { after, before, from = 0, to = Number.POSITIVE_INFINITY }: RowsQuery,
): Accrued[] {
  const { markets: all, timeMs } = stateOf(source);
  if (after !== undefined || before !== undefined || timeMs < from || timeMs >= to) return [];
  return markets.flatMap((number) => {
    const market = all[number];
    return market === undefined ? [] : accruedOf(market, account);
  });
}

function accruedOf(market: Market, account: number): Accrued[] {
  const { positions } = market;
  const row = positions.rowOf(account);
  if (row < 0) return [];
  const settled = settledFigures(market, row);
  const paidMicros = settled.fundingMicros - positions.funding(row);
  const marginMicros = settled.marginMicros - positions.margin(row);
  return paidMicros === 0 ? [] : [{ market: market.number, marginMicros, paidMicros }];
}
