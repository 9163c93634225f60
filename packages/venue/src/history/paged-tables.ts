/** The tables whose rows are read page by page, and where a row has its time. */
import { FILL_LENGTHS, FILL_ROW, TRADE_ROW, TRADE_WORDS } from "./fill-projection.js";
import type { Tables } from "./history-store.js";
import { LEDGER_ROW, LEDGER_WORDS } from "./ledger-projection.js";
import { ORDER_ROW, ORDER_ROW_LENGTHS } from "./order-row.js";
import type { PagedTable } from "./row-pages.js";

export type PagedName = "fills" | "trades" | "orders" | "payments" | "ledger";
export type PagedTables = Readonly<Record<PagedName, PagedTable>>;
type Paging = Pick<PagedTable, "lengths" | "timeWord" | "endsAtEdge">;

export const PAGING: Readonly<Record<PagedName, Paging>> = {
  fills: { lengths: FILL_LENGTHS, timeWord: FILL_ROW.TIME, endsAtEdge: true },
  trades: { lengths: TRADE_WORDS, timeWord: TRADE_ROW.TIME, endsAtEdge: true },
  orders: { lengths: ORDER_ROW_LENGTHS, timeWord: ORDER_ROW.CREATED, endsAtEdge: false },
  payments: { lengths: LEDGER_WORDS, timeWord: LEDGER_ROW.TIME, endsAtEdge: true },
  ledger: { lengths: LEDGER_WORDS, timeWord: LEDGER_ROW.TIME, endsAtEdge: true },
};

export function pagedTables(tables: Tables): PagedTables {
  const paged = (name: PagedName): PagedTable => ({ table: tables[name], name, ...PAGING[name] });
  return {
    fills: paged("fills"),
    trades: paged("trades"),
    orders: paged("orders"),
    payments: paged("payments"),
    ledger: paged("ledger"),
  };
}
