/**
 * Rows of the lists of the past from an archive, which has the store's tables: the same pages in the same order,
 * decoded like the store's.
 */
import { type ClientIdWords, clientIdOf } from "@perpgate/protocol/client-order-id";
import { parentOf } from "@perpgate/protocol/core";
import type { History } from "../history/history.js";
import type { NonceOrClientId } from "../history/history-reader.js";
import type { Place } from "../history/history-table.js";
import { clientIdPlace, keyOf } from "../history/keys.js";
import { PAGING, type PagedName } from "../history/paged-tables.js";
import { CODECS } from "../history/row-codecs.js";
import {
  type BlockTimes,
  firstBlockWhere,
  LAST,
  type PlacedRow,
  placeAfter,
  placedRow,
  type RowPageQuery,
} from "../history/row-pages.js";
import type { Cell } from "../history/sqlite.js";

/**
 * Runs SQL that reads. Rows are arrays, and integers numbers; rejects if there is no answer in time. `reader`: the
 * account that asks, or `PUBLIC_READER`.
 */
export type ArchiveQuery = (sql: string, reader: number) => Promise<readonly (readonly Cell[])[]>;

/** Of lists that belong to no account. */
export const PUBLIC_READER = 0;

/** The archive does not have the log as far as the store needs it. */
class ArchiveUnusable extends Error {
  override readonly name = "ArchiveUnusable";
}

const FIRST: Place = { seq: 0, ordinal: 0 };
const TIMES: Readonly<Record<PagedName, string>> = {
  fills: "time",
  trades: "time",
  orders: "created",
  payments: "time",
  ledger: "time",
};

const DAY_MS = 86_400_000;
/** Days that are read one after another, until the page is full; then all that are left. */
const SPAN_DAYS = [1, 7, 49];

/** fromMs ≤ time < toMs. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Of a page's rows. */
interface PageSpan extends Span {
  /** No row after the page's first place is older than `fromMs`; some are as old as this. */
  readonly beginsMs: number;
}

/** The blocks of a history, for reads of it. */
type ReadBlocks = BlockTimes & Pick<History, "read">;

export class ArchivedRows {
  constructor(
    private readonly query: ArchiveQuery,
    private readonly blocks: ReadBlocks,
    private readonly venueId: () => string | null,
  ) {}

  /** @throws {ArchiveUnusable} unless the archive has all commands up to `position`, of the same past. */
  async need(position: number, reader: number): Promise<void> {
    const block = await this.blocks.read(() => this.blockUpTo(position));
    const hash = `SELECT encode(sha256(header), 'hex') FROM block_rows WHERE number = ${block?.number ?? 0}`;
    const sql = `SELECT venue, position, (${hash}) FROM archive`;
    const [[venue, held, archivedHash] = []] = await this.query(sql, reader);
    if (venue !== this.venueId()) throw new ArchiveUnusable("the archive is of another venue");
    if (Number(held) < position || (block !== undefined && archivedHash === null)) {
      const end = block === undefined ? position : `the end of block ${block.number}`;
      throw new ArchiveUnusable(`the archive ends at position ${held}, before ${end}`);
    }
    if (block === undefined || archivedHash === block.hash.toString("hex")) return;
    throw new ArchiveUnusable("the archive has another past than this log");
  }

  /** The rows of the groups, merged. */
  page(
    name: PagedName,
    groups: readonly number[],
    query: RowPageQuery,
    reader: number,
  ): Promise<PlacedRow[]> {
    const { after, before = LAST } = query;
    const from = after === undefined ? FIRST : placeAfter(after);
    const isAscending = after !== undefined;
    const { keys } = CODECS[name];
    const order = keys.map((key) => `${key} ${isAscending ? "ASC" : "DESC"}`).join(", ");
    return this.inSpans(query, name, reader, (times, limit) => {
      const reads = groups.map((group) => {
        const range = `${tupleOf(name, group, from)} <= (${keys.join(", ")})
          AND (${keys.join(", ")}) < ${tupleOf(name, group, before)}`;
        return `(${selectOf(name)} WHERE ${range} AND ${times} ORDER BY ${order} LIMIT ${limit})`;
      });
      return reads.join(" UNION ALL ");
    });
  }

  /** Orders of the account in these markets that have a name. */
  ordersNamed(
    account: number,
    markets: readonly number[],
    { nonce, clientId }: NonceOrClientId,
    query: RowPageQuery,
  ): Promise<PlacedRow[]> {
    const { after, before = LAST } = query;
    const from = after === undefined ? FIRST : placeAfter(after);
    const named = [
      // An exit has the nonce of its order, and is found through it.
      ...(nonce === undefined ? [] : [`nonce = ${nonce} AND id = floor(id)`]),
      ...(clientId === undefined ? [] : [clientIdIs(clientId)]),
    ];
    const place = `id >= ${from.seq} AND id < ${before.seq} AND market IN (${markets.join(", ")})`;
    const order = after === undefined ? "DESC" : "ASC";
    return this.inSpans(query, "orders", account, (times, limit) =>
      markets.length === 0
        ? ""
        : `${selectOf("orders")} WHERE account = ${account} AND ${named.join(" AND ")} AND ${place}
           AND ${times} ORDER BY id ${order} LIMIT ${limit}`,
    );
  }

  /** An order of the account. */
  async order(account: number, id: number): Promise<PlacedRow | undefined> {
    const placed = parentOf(id);
    const span = await this.blocks.read(() =>
      this.spanOf({ seq: placed - 1 }, { seq: placed + 1 }),
    );
    const times = within("orders", span);
    const where = `id = ${id} AND account = ${account} AND ${times}`;
    const sql = `${selectOf("orders")} WHERE ${where}`;
    const [row] = await this.rowsOf("orders", sql, account);
    return row;
  }

  /**
   * The rows of a page, from one span of days after another. The archive has a table for each day, and a query
   * without times would look into all of them.
   */
  private async inSpans(
    { limit, after, before = LAST, fromMs = 0, toMs = Number.MAX_SAFE_INTEGER }: RowPageQuery,
    name: PagedName,
    reader: number,
    sqlOf: (times: string, limit: number) => string,
  ): Promise<PlacedRow[]> {
    const bounds = await this.blocks.read(() => this.spanOf(after, before));
    const whole = {
      fromMs: Math.max(fromMs, bounds.fromMs),
      toMs: Math.min(toMs, bounds.toMs),
      beginsMs: Math.max(fromMs, bounds.beginsMs),
    };
    const isAscending = after !== undefined;
    const byPlace = (a: Place, b: Place) => a.seq - b.seq || a.ordinal - b.ordinal;
    const page: PlacedRow[] = [];
    for (const span of spansIn(whole, isAscending)) {
      const left = limit - page.length;
      const sql = left > 0 ? sqlOf(within(name, span), left) : "";
      if (sql === "") break;
      const rows = await this.rowsOf(name, sql, reader);
      rows.sort(isAscending ? byPlace : (a, b) => byPlace(b, a));
      page.push(...rows.slice(0, left));
    }
    return page;
  }

  /** The block of a position, or the last one that is sealed. */
  private blockUpTo(position: number) {
    const newest = this.blocks.newestBlock();
    const isReached = ({ lastPosition }: { readonly lastPosition: number }) =>
      lastPosition >= position;
    return newest && (firstBlockWhere(this.blocks, newest, isReached) ?? newest);
  }

  /** Times of the rows between two places: those at which the blocks there were sealed. */
  private spanOf(after: Pick<Place, "seq"> = FIRST, before: Pick<Place, "seq"> = LAST): PageSpan {
    const { blocks } = this;
    const newest = blocks.newestBlock();
    const blockWith = (seq: number) =>
      newest && firstBlockWhere(blocks, newest, ({ lastPosition }) => lastPosition >= seq);
    const first = blockWith(after.seq + 1);
    const last = blockWith(before.seq - 1);
    const fromMs =
      first === undefined || first.number === 1 ? 0 : (blocks.block(first.number - 1)?.timeMs ?? 0);
    return {
      fromMs,
      beginsMs: first?.timeMs ?? fromMs,
      toMs: last === undefined ? Number.MAX_SAFE_INTEGER : last.timeMs + 1,
    };
  }

  private async rowsOf(name: PagedName, sql: string, reader: number): Promise<PlacedRow[]> {
    const rows = await this.query(sql, reader);
    return rows.map((cells) => placedRow(CODECS[name].entry(cells), name, PAGING[name].lengths));
  }
}

/** The spans of a page's days in the order of its rows. */
function* spansIn({ fromMs, toMs, beginsMs }: PageSpan, isAscending: boolean): Generator<Span> {
  let [low, high] = [fromMs, toMs];
  for (const days of [...SPAN_DAYS, Number.POSITIVE_INFINITY]) {
    if (low >= high) return;
    if (isAscending) {
      const until = Math.min(high, Math.max(low, beginsMs) + days * DAY_MS);
      yield { fromMs: low, toMs: until };
      low = until;
    } else {
      const from = Math.max(low, high - days * DAY_MS);
      yield { fromMs: from, toMs: high };
      high = from;
    }
  }
}

function within(name: PagedName, { fromMs, toMs }: Span): string {
  return `${TIMES[name]} >= ${fromMs} AND ${TIMES[name]} < ${toMs}`;
}

function clientIdIs(words: ClientIdWords): string {
  return `client_key = ${clientIdPlace(words, 0)} AND client_order_id = '${clientIdOf(words)}'`;
}

function selectOf(name: PagedName): string {
  const { keys, columns, from } = CODECS[name];
  return `SELECT ${[...keys, ...columns].join(", ")} FROM ${from}`;
}

/** The key of a place in a group. */
function tupleOf(name: PagedName, group: number, { seq, ordinal }: Place): string {
  return `(${CODECS[name].keyCells(keyOf(group, seq, ordinal)).join(", ")})`;
}
