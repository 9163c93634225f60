/**
 * Pages of the past: from the store as far as its window reaches, and from there on from the archive, if there is
 * one. A page that cannot be continued there says where it ends.
 */
import type { NotesInMaking } from "@perpgate/link";
import type { Fill, FundingPayment, LedgerEntry, Order, Trade } from "@perpgate/protocol";
import { ApiError } from "@perpgate/protocol/core";
import { PUBLIC_READER } from "../archive/archived-rows.js";
import type { ArchivedViews } from "../views/archived-views.js";
import type { OrderNames } from "../views/order-view.js";
import type { RowsQuery } from "../views/row-query.js";
import type { Views } from "../views/views.js";
import { wholePage } from "./whole-page.js";

type EdgeNote = Pick<NotesInMaking, "historyBefore">;

interface PastList<T> {
  /** The page as far as the store has it. `onRead` gets the number of rows that are read. */
  recent(query: RowsQuery, onRead: (rows: number) => void): T[];
  older(archive: ArchivedViews, query: RowsQuery): Promise<T[]>;
  /** The account that asks, or `PUBLIC_READER`. */
  readonly reader: number;
  readonly onRead?: (rows: number) => void;
  idOf(row: T): string;
}

/** The limit of lists of the past that a query leaves out. */
const USUAL_LIMIT = 1_000;
const idOf = ({ id }: { readonly id: string }): string => id;
const NOTHING = (): void => undefined;

export class PastLists {
  constructor(
    private readonly views: Views,
    private readonly archive: ArchivedViews | undefined,
    private readonly onUnreachable: (error: unknown) => void = NOTHING,
  ) {}

  fills(account: number, query: RowsQuery, note: EdgeNote): Promise<Fill[]> {
    return this.page<Fill>(query, note, {
      recent: (page) => this.views.fills(account, page),
      older: (archive, page) => archive.fills(account, page),
      reader: account,
      idOf,
    });
  }

  /** Undefined for a market that is not listed. */
  async trades(symbol: string, query: RowsQuery, note: EdgeNote): Promise<Trade[] | undefined> {
    if (this.views.marketNumber(symbol) === undefined) return undefined;
    return this.page<Trade>(query, note, {
      recent: (page) => this.views.trades(symbol, page) ?? [],
      older: (archive, page) => archive.trades(symbol, page),
      reader: PUBLIC_READER,
      idOf,
    });
  }

  /** In any state. */
  orders(account: number, query: RowsQuery, note: EdgeNote): Promise<Order[]> {
    return this.page<Order>(query, note, {
      recent: (page) => this.views.orders(account, page),
      older: (archive, page) => archive.orders(account, page),
      reader: account,
      idOf: ({ orderId }) => orderId,
    });
  }

  /** That have a name, in any state. `onRead` gets the number of rows that the store read. */
  ordersNamed(
    account: number,
    names: OrderNames,
    query: RowsQuery,
    note: EdgeNote,
    onRead: (rows: number) => void = NOTHING,
  ): Promise<Order[]> {
    return this.page<Order>(query, note, {
      recent: (page, onRead) => {
        const found = this.views.ordersNamed(account, names, page);
        onRead(found.read);
        return wholePage(found, page);
      },
      onRead,
      older: (archive, page) => archive.ordersNamed(account, names, page),
      reader: account,
      idOf: ({ orderId }) => orderId,
    });
  }

  /** `onRead` gets the number of rows that are read. */
  ledger(
    account: number,
    query: RowsQuery,
    note: EdgeNote,
    onRead: (rows: number) => void = NOTHING,
  ): Promise<LedgerEntry[]> {
    return this.page<LedgerEntry>(query, note, {
      recent: (page, onRead) => this.views.ledger(account, page, onRead),
      onRead,
      older: (archive, page) => archive.ledger(account, page, onRead),
      reader: account,
      idOf,
    });
  }

  fundingPayments(account: number, query: RowsQuery, note: EdgeNote): Promise<FundingPayment[]> {
    return this.page<FundingPayment>(query, note, {
      recent: (page) => this.views.fundingPayments(account, page),
      older: (archive, page) => archive.fundingPayments(account, page),
      reader: account,
      idOf,
    });
  }

  /** @throws ApiError `history_not_kept` for one that only an archive may have which cannot be read. */
  async order(account: number, id: number): Promise<Order | undefined> {
    const { archive, views } = this;
    try {
      return await views.read(() => views.order(account, id));
    } catch (error) {
      if (archive === undefined || !isNotKept(error)) throw error;
      try {
        await archive.need(Number(views.historyBefore?.position ?? 0), account);
        return await archive.order(account, id);
      } catch (failure) {
        this.onUnreachable(failure);
        throw error;
      }
    }
  }

  private async page<T>(
    query: RowsQuery,
    note: EdgeNote,
    { recent, older, reader, onRead = NOTHING, idOf }: PastList<T>,
  ): Promise<T[]> {
    const { views, archive } = this;
    const { page, inWindow, edge } = await views.readCounted(onRead, (count) => {
      const page = recent(query, count);
      const begins = Number(views.historyBefore?.position ?? 0);
      // Of orders some that are older are there, too.
      const inWindow = page.filter((row) => positionOf(idOf(row)) >= begins);
      return { page, inWindow, edge: views.edgeInPage(query, inWindow.length) };
    });
    if (edge === 0) return page;
    const { limit = USUAL_LIMIT, before, after } = query;
    const isAscending = after !== undefined;
    try {
      if (archive !== undefined) {
        await archive.need(edge, reader);
        const left = isAscending ? limit : limit - inWindow.length;
        const until = before !== undefined && positionOf(before) < edge ? before : String(edge);
        const rows = await older(archive, { ...query, before: until, limit: left });
        return isAscending ? [...rows, ...inWindow].slice(0, limit) : [...inWindow, ...rows];
      }
    } catch (error) {
      this.onUnreachable(error);
    }
    note.historyBefore = edge;
    return page;
  }
}

function isNotKept(error: unknown): boolean {
  return error instanceof ApiError && error.code === "history_not_kept";
}

/** Of an entry's id, or an order's: exits follow their order. */
function positionOf(id: string): number {
  return Number.parseInt(id, 10);
}
