/**
 * A list of the account, newest first: its newest page, which is read again after each change, and as
 * many older ones as were asked for.
 */

import { Store } from "../state/store.js";
import { ONCE, Refresher } from "./refresher.js";

export const PAGE_ROWS = 50;
/** Rows that may be added at the beginning before the oldest are dropped. */
const MOST_ADDED = 200;

export interface RowList<Row> {
  readonly rows: readonly Row[];
  /** Whether there are older ones. */
  readonly hasMore: boolean;
  /** How many rows there were when the last page was added at the end. */
  readonly paged: number;
  /** Whether it ends because the venue keeps nothing older. */
  readonly isCut: boolean;
}

/** A page as the venue returns it, newest first. */
interface Page<Row> {
  readonly rows: readonly Row[];
  readonly isCut: boolean;
}

type IdOf<Row> = (row: Row) => string;

/**
 * Joins the newest page. What is older than its last row stays, up to a limit; without that row the list
 * begins again. Newer rows are those of the page: accrued funding gets another id with every read.
 */
export function joinNewest<Row>(
  known: RowList<Row> | undefined,
  { rows: page, isCut }: Page<Row>,
  idOf: IdOf<Row>,
): RowList<Row> {
  const isFull = page.length === PAGE_ROWS;
  const last = page.at(-1);
  const at =
    known === undefined || last === undefined || !isFull
      ? -1
      : known.rows.findIndex((row) => idOf(row) === idOf(last));
  if (known === undefined || at < 0) {
    return { rows: page, hasMore: isFull, paged: page.length, isCut };
  }
  const all = [...page, ...known.rows.slice(at + 1)];
  const rows = all.slice(0, known.paged + MOST_ADDED);
  const isDropped = rows.length < all.length;
  const hasMore = known.hasMore || isDropped;
  return { ...known, rows, hasMore, isCut: known.isCut && !isDropped };
}

/** Joins the page before the row with the id `before`, unless that is no longer the oldest one. */
export function joinOlder<Row>(
  known: RowList<Row> | undefined,
  page: Page<Row>,
  before: string,
  idOf: IdOf<Row>,
): RowList<Row> | undefined {
  const oldest = known?.rows.at(-1);
  if (known === undefined || oldest === undefined || idOf(oldest) !== before) return known;
  const rows = [...known.rows, ...page.rows];
  const hasMore = page.rows.length === PAGE_ROWS;
  return { rows, hasMore, paged: rows.length, isCut: page.isCut };
}

export interface PageQuery {
  readonly limit: number;
  readonly before?: string;
  readonly retries?: number;
  readonly onHistoryBefore?: () => void;
}

export type LoadRows<Row> = (query: PageQuery) => Promise<readonly Row[]>;

/** Reads a page, and whether the venue keeps nothing older. */
export async function readPage<Row>(load: LoadRows<Row>, query: PageQuery): Promise<Page<Row>> {
  let isCut = false;
  const onHistoryBefore = () => {
    isCut = true;
  };
  const rows = await load({ ...query, onHistoryBefore });
  return { rows, isCut };
}

export class PagedList<Row> {
  /** Undefined while the first page is loading. */
  readonly list = new Store<RowList<Row> | undefined>(undefined);
  private newest: Refresher | undefined;

  constructor(
    private readonly load: LoadRows<Row>,
    private readonly idOf: IdOf<Row>,
  ) {}

  start(): void {
    this.newest = new Refresher(async () => {
      const page = await readPage(this.load, { limit: PAGE_ROWS, ...ONCE });
      this.list.update((known) => joinNewest(known, page, this.idOf));
    });
    void this.newest.now();
  }

  close(): void {
    this.newest?.close();
  }

  /** After a change. */
  reload(): void {
    this.newest?.soon();
  }

  /** Adds the next older page. */
  async more(): Promise<void> {
    const oldest = this.list.get()?.rows.at(-1);
    if (oldest === undefined) return;
    const before = this.idOf(oldest);
    const page = await readPage(this.load, { limit: PAGE_ROWS, before });
    this.list.update((known) => joinOlder(known, page, before, this.idOf));
  }
}
