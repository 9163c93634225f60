/** The ledger of an account: its fills, payments of funding and other entries, merged by place. */
import { TRADE_ADL, TRADE_ORDER } from "@perpgate/engine";
import { FILL_ROW } from "./fill-projection.js";
import type { Place } from "./history-table.js";
import { MAX_ORDINAL } from "./keys.js";
import { AT_FILL, FILL_STEP, LEDGER, LEDGER_ROW } from "./ledger-projection.js";
import type { PlacedRow, RowPageQuery } from "./row-pages.js";

/** In the engine's integers; `ordinal` is the place within the command. */
export interface LedgerItem extends Place {
  readonly kind: number;
  /** `NO_MARKET` for none. */
  readonly market: number;
  readonly amount: number;
  readonly balance: number;
  readonly detail: number;
  /** The ordinal of the fill that it belongs to; null for none. */
  readonly fill: number | null;
  readonly timeMs: number;
}

interface LedgerSources {
  fills(query: RowPageQuery): readonly PlacedRow[];
  /** Payments of funding, and what is neither that nor a fill. */
  others(query: RowPageQuery): readonly PlacedRow[];
}

/** `onRead` gets the number of rows that were read: up to three times the limit. */
export function readLedger(
  sources: LedgerSources,
  query: RowPageQuery,
  onRead: (rows: number) => void,
): LedgerItem[] {
  const { limit, after, before } = query;
  const fills = sources.fills(fillsBehind(query));
  const others = sources.others(query);
  onRead(fills.length + others.length);
  const items = [...fills.flatMap(itemsOfFill), ...others.map(itemOf)].filter(
    (item) =>
      (after === undefined || compare(item, after) > 0) &&
      (before === undefined || compare(item, before) < 0),
  );
  items.sort(after === undefined ? (a, b) => compare(b, a) : compare);
  return items.slice(0, limit);
}

/** The fills whose entries may be in a page: the one at its end may have one on each side of it. */
export function fillsBehind(query: RowPageQuery): RowPageQuery {
  const { limit, after, before } = query;
  return {
    ...query,
    limit: limit + 1,
    after: after === undefined ? undefined : beforeFill(after),
    before: before === undefined ? undefined : { seq: before.seq, ordinal: fillOf(before) + 1 },
  };
}

/** Of the fill with that place, or of the next one. */
function fillOf({ ordinal }: Place): number {
  return Math.floor(ordinal / FILL_STEP);
}

function beforeFill(place: Place): Place {
  const fill = fillOf(place);
  return fill === 0
    ? { seq: place.seq - 1, ordinal: MAX_ORDINAL }
    : { seq: place.seq, ordinal: fill - 1 };
}

/** The PnL, then the fee; a fill that changes nothing has one entry of 0. */
function itemsOfFill({ seq, ordinal, row }: PlacedRow): LedgerItem[] {
  const pnl = row[FILL_ROW.PNL]!;
  const fee = row[FILL_ROW.FEE]!;
  const balance = row[FILL_ROW.BALANCE]!;
  const isOrder = row[FILL_ROW.KIND] === TRADE_ORDER;
  const shared = {
    seq,
    market: row[FILL_ROW.MARKET]!,
    detail: 0,
    fill: ordinal,
    timeMs: row[FILL_ROW.TIME]!,
  };
  const first = ordinal * FILL_STEP + AT_FILL;
  const items: LedgerItem[] = [];
  if (pnl !== 0 || (fee === 0 && !isOrder)) {
    const kind = pnlKind(row);
    items.push({ ...shared, ordinal: first, kind, amount: pnl, balance: balance + fee });
  }
  if (fee !== 0 || items.length === 0) {
    items.push({ ...shared, ordinal: first + 1, kind: LEDGER.FEE, amount: 0 - fee, balance });
  }
  return items;
}

function pnlKind(row: readonly number[]): number {
  if (row[FILL_ROW.KIND] === TRADE_ORDER) return LEDGER.PNL;
  // In a deleveraging the taker is the one that is liquidated.
  const isGiver = row[FILL_ROW.KIND] === TRADE_ADL && row[FILL_ROW.IS_TAKER] === 0;
  return isGiver ? LEDGER.ADL : LEDGER.LIQUIDATION;
}

function itemOf({ seq, ordinal, row }: PlacedRow): LedgerItem {
  return {
    seq,
    ordinal,
    kind: row[LEDGER_ROW.KIND]!,
    market: row[LEDGER_ROW.MARKET]!,
    amount: row[LEDGER_ROW.AMOUNT]!,
    balance: row[LEDGER_ROW.BALANCE]!,
    detail: row[LEDGER_ROW.DETAIL]!,
    fill: null,
    timeMs: row[LEDGER_ROW.TIME]!,
  };
}

function compare(a: Place, b: Place): number {
  return a.seq - b.seq || a.ordinal - b.ordinal;
}
