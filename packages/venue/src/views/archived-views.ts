/** Lists of the past from the archive, as clients see them: what the store does not keep any more. */
import type { Fill, FundingPayment, LedgerEntry, Order, Trade } from "@perpgate/protocol";
import { type ArchivedRows, PUBLIC_READER } from "../archive/archived-rows.js";
import { accountGroup, NO_MARKET } from "../history/keys.js";
import { fillsBehind, readLedger } from "../history/ledger-reader.js";
import { ORDER_ROW } from "../history/order-row.js";
import type { PlacedRow } from "../history/row-pages.js";
import { together } from "../history/store-read.js";
import { entryOf, paymentOf } from "./ledger-view.js";
import { nameOf, type OrderNames, orderOf } from "./order-view.js";
import { marketNumbers, orderPageOf, pageOf, type RowsQuery } from "./row-query.js";
import { fillOf, tradeOf } from "./tape-view.js";
import type { VenueSource } from "./venue-source.js";

const MAX_ROWS = 1_000;

export class ArchivedViews {
  constructor(
    private readonly source: VenueSource,
    private readonly rows: ArchivedRows,
  ) {}

  /** @throws {ArchiveUnusable} unless it has all rows before a position. */
  need(before: number, reader: number): Promise<void> {
    return this.rows.need(before - 1, reader);
  }

  async fills(account: number, query: RowsQuery): Promise<Fill[]> {
    const groups = this.groupsOf(account, marketNumbers(this.source, query.symbol));
    const rows = await this.rows.page("fills", groups, pageOf(query, MAX_ROWS), account);
    return rows.map((placed) => fillOf(this.source, placed));
  }

  async trades(symbol: string, query: RowsQuery): Promise<Trade[]> {
    const units = this.source.listing.named(symbol);
    if (units === undefined) return [];
    const page = pageOf(query, MAX_ROWS);
    const rows = await this.rows.page("trades", [units.number], page, PUBLIC_READER);
    return rows.map((placed) => tradeOf(units, placed));
  }

  async orders(account: number, query: RowsQuery): Promise<Order[]> {
    const markets = marketNumbers(this.source, query.symbol);
    const groups = this.groupsOf(account, markets);
    const rows = await this.rows.page("orders", groups, orderPageOf(query, MAX_ROWS), account);
    return this.latest(account, rows);
  }

  /** In any state. */
  async ordersNamed(account: number, names: OrderNames, query: RowsQuery): Promise<Order[]> {
    const name = nameOf(names);
    if (name === undefined) return [];
    const markets = marketNumbers(this.source, query.symbol);
    const rows = await this.rows.ordersNamed(account, markets, name, pageOf(query, MAX_ROWS));
    return this.latest(account, rows);
  }

  async order(account: number, id: number): Promise<Order | undefined> {
    const found = await this.rows.order(account, id);
    if (found === undefined) return undefined;
    const [order] = await this.latest(account, [found]);
    return order;
  }

  async ledger(
    account: number,
    query: RowsQuery,
    onRead: (rows: number) => void,
  ): Promise<LedgerEntry[]> {
    const listed = marketNumbers(this.source, query.symbol);
    const markets = query.symbol === undefined ? [...listed, NO_MARKET] : listed;
    const groups = this.groupsOf(account, markets);
    const page = pageOf(query, MAX_ROWS);
    const fills = await this.rows.page("fills", groups, fillsBehind(page), account);
    const payments = await this.rows.page("payments", groups, page, account);
    const others = [...payments, ...(await this.rows.page("ledger", groups, page, account))];
    const items = readLedger({ fills: () => fills, others: () => others }, page, onRead);
    return items.map((item) => entryOf(this.source, item));
  }

  async fundingPayments(account: number, query: RowsQuery): Promise<FundingPayment[]> {
    const groups = this.groupsOf(account, marketNumbers(this.source, query.symbol));
    const rows = await this.rows.page("payments", groups, pageOf(query, MAX_ROWS), account);
    return rows.map((placed) => paymentOf(this.source, placed));
  }

  /** An archive may be behind; the store has the orders that were open later than its window begins. */
  private latest(account: number, rows: readonly PlacedRow[]): Promise<Order[]> {
    const { history } = this.source;
    return history.read(() =>
      together(rows, ({ row }) => {
        const market = row[ORDER_ROW.MARKET]!;
        const kept = history.keptOrder(account, [market], row[ORDER_ROW.ID]!);
        return orderOf(this.source, kept ?? row);
      }),
    );
  }

  private groupsOf(account: number, markets: readonly number[]): number[] {
    return markets.map((market) => accountGroup(account, market));
  }
}
