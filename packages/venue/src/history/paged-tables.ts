/** The tables whose rows are read page by page, and where a row has its time. */
import { FILL_LENGTHS, FILL_ROW, TRADE_ROW, TRADE_WORDS } from "./fill-projection.js";
import type { Tables } from "./history-store.js";
import { LEDGER_ROW, LEDGER_WORDS } from "./ledger-projection.js";
import { ORDER_ROW, ORDER_ROW_LENGTHS } from "./order-row.js";
import type { PagedTable } from "./row-pages.js";

type PagedName = "fills" | "trades" | "orders" | "payments" | "ledger";
export type PagedTables = Readonly<Record<PagedName, PagedTable>>;

export function pagedTables(tables: Tables): PagedTables {
  const paged = (
    name: PagedName,
    lengths: number | readonly number[],
    timeWord: number,
  ): PagedTable => {
    const endsAtEdge = name !== "orders";
    return { table: tables[name], name, lengths, timeWord, endsAtEdge };
  };
  return {
    fills: paged("fills", FILL_LENGTHS, FILL_ROW.TIME),
    trades: paged("trades", TRADE_WORDS, TRADE_ROW.TIME),
    orders: paged("orders", ORDER_ROW_LENGTHS, ORDER_ROW.CREATED),
    payments: paged("payments", LEDGER_WORDS, LEDGER_ROW.TIME),
    ledger: paged("ledger", LEDGER_WORDS, LEDGER_ROW.TIME),
  };
}
