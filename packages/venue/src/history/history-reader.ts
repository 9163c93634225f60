/** The reads of a history: rows and pages of rows, from memory and disk. */
import type { Resolution } from "@perpgate/protocol";
import type { ClientIdWords } from "@perpgate/protocol/client-order-id";
import {
  ApiError,
  type CandlePrice,
  exitKindOf,
  isAnswerLeaf,
  isOrderLeaf,
  parentOf,
} from "@perpgate/protocol/core";
import { decodeBlock, type SealedBlock } from "../blocks/block-header.js";
import { HistoryDamaged } from "../venue-errors.js";
import { type AckRow, decodeAck } from "./ack-row.js";
import { candleGroup, candleLengths } from "./candle-projection.js";
import type { DayStats } from "./day-stats.js";
import { decodeVote, type VotePlace, type VoteRow, voteKey } from "./deposit-projection.js";
import { type FilteredRows, filteredRows, MAX_LOOKUPS, NO_ROWS } from "./filtered-rows.js";
import type { TableName } from "./history-environment.js";
import type { HistoryRows } from "./history-rows.js";
import type { Tables } from "./history-store.js";
import type { Entry, HistoryTable, Place } from "./history-table.js";
import { accountGroup, clientIdPlace, groupOf, keyOf, lastOf, placeOf, wideKeyOf } from "./keys.js";
import { type LedgerItem, readLedger } from "./ledger-reader.js";
import { EXTENDED_ROW, ORDER_ROW, ORDER_ROW_LENGTHS } from "./order-row.js";
import { type PagedTables, pagedTables } from "./paged-tables.js";
import { decodeResult, type ResultRow } from "./result-projection.js";
import { type HistoryEdge, outlivesEdge } from "./retention.js";
import {
  LAST,
  type PlacedRow,
  placedRow,
  type RowPageQuery,
  rangeOf,
  readPage,
} from "./row-pages.js";
import { storedRow } from "./rows.js";
import type { SessionKeyRow } from "./session-projection.js";
import { decodeWithdrawal } from "./withdrawal-projection.js";
import type { WithdrawalRow } from "./withdrawal-row.js";

interface TimedRow {
  readonly timeMs: number;
  readonly row: readonly number[];
}

/** As `PageQuery`, by the times in the keys. */
export interface TimeQuery {
  readonly limit: number;
  readonly afterMs?: number | undefined;
  readonly beforeMs?: number | undefined;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
}

/** Above every seq and time. */
const HIGHEST = Number.MAX_SAFE_INTEGER;
/** The rate and the mark. */
const FUNDING_WORDS = 2;

/** A nonce, the client's id, or both. */
export type NonceOrClientId =
  | { readonly nonce: number; readonly clientId?: ClientIdWords | undefined }
  | { readonly nonce?: undefined; readonly clientId: ClientIdWords };

export abstract class HistoryReader {
  private readonly paged: PagedTables;

  constructor(
    protected readonly tables: Tables,
    protected readonly rows: HistoryRows,
  ) {
    this.paged = pagedTables(tables);
  }

  /** Of the last command, on disk or queued. */
  abstract get seq(): number;
  /** Whether another thread rebuilds the store: then only what is in memory can be read. */
  abstract get isRebuilding(): boolean;
  /** Then: how much of it is rebuilt, from 0 to 1. */
  abstract get rebuilt(): number;
  /** The rows of all commands after this seq can be read. */
  protected abstract get keptAfter(): number;
  /** Where the window begins (retention.ts). */
  abstract get edge(): HistoryEdge;

  /** The first seq whose rows are all kept; 1: nothing was dropped. */
  get historyBefore(): number {
    return this.edge.keptFrom;
  }

  /** @throws {ApiError} `history_rebuilding` unless the rows of that command, or of all, can be read. */
  private need(seq = 0): void {
    if (!this.isRebuilding || seq > this.keptAfter) return;
    // Rounded down: it is not complete.
    const fraction = Math.floor(Math.min(this.rebuilt, 0.999) * 1_000) / 1_000;
    const percent = Math.floor(fraction * 100);
    throw new ApiError("history_rebuilding", { percent }, { details: { fraction } });
  }

  /** @throws {ApiError} `history_not_kept` unless the row of that command is kept, if there was one. */
  private needKept(seq: number): void {
    const { keptFrom, keptFromMs } = this.edge;
    if (seq >= keptFrom || seq < 1) return;
    const details = { historyBefore: keptFrom, time: keptFromMs };
    throw new ApiError("history_not_kept", { position: keptFrom, seq }, { details });
  }

  /** Of a session that is not closed. */
  sessionKey(session: number): SessionKeyRow | undefined {
    return this.rows.sessions.keyOf(session);
  }

  /** Of an open position. */
  positionUpdatedAt(account: number, market: number): number {
    return this.rows.positions.updatedAt(account, market) ?? 0;
  }

  /** An order's acknowledgement. */
  ack(seq: number): AckRow | undefined {
    const row = this.leaf(seq);
    return row !== undefined && isOrderLeaf(row.leaf) ? row : undefined;
  }

  /** What a receipt is about: the acknowledgement of an order, an amendment or a cancel. */
  answer(seq: number): AckRow | undefined {
    const row = this.leaf(seq);
    return row !== undefined && isAnswerLeaf(row.leaf) ? row : undefined;
  }

  /** What the command at a seq put into its block: an order's acknowledgement, or the leaf of another. */
  leaf(seq: number): AckRow | undefined {
    this.need(seq);
    this.needKept(seq);
    const bytes = this.tables.acks.get(keyOf(seq));
    return bytes === undefined ? undefined : decodeAck(seq, bytes);
  }

  /** The result of an operation of a batch, or of a change of margin. */
  result(seq: number): ResultRow | undefined {
    this.need(seq);
    this.needKept(seq);
    const bytes = this.tables.results.get(keyOf(seq));
    return bytes === undefined ? undefined : decodeResult(seq, bytes);
  }

  /** The leaves of a range of the log, in order. */
  acksBetween(first: number, last: number, limit = last - first + 1): AckRow[] {
    this.need(first);
    this.needKept(first);
    const entries = this.tables.acks.ascending(keyOf(first), keyOf(last + 1), limit);
    return entries.map(({ key, value }) => decodeAck(groupOf(key), value));
  }

  block(number: number): SealedBlock | undefined {
    const bytes = this.tables.blocks.get(keyOf(number));
    if (bytes === undefined) {
      this.need();
      return undefined;
    }
    const block = decodeBlock(bytes);
    if (block === undefined || block.number !== number) {
      throw new HistoryDamaged(`block ${number} is no block header`);
    }
    return block;
  }

  /** Headers of blocks from `first` to `last`, both included, as stored. */
  headers(first: number, last: number): Buffer[] {
    this.need();
    const { blocks } = this.tables;
    const entries = blocks.ascending(keyOf(first), keyOf(last + 1), last - first + 1);
    return entries.map(({ value }) => value);
  }

  /** Hashes of the transparency log's tree (tree-projection.ts), from `first` on. */
  treeHashes(level: number, first: number, count: number): Buffer[] {
    this.need();
    const { tree } = this.tables;
    const entries = tree.ascending(keyOf(level, first), keyOf(level, first + count), count);
    return entries.map(({ value }) => value);
  }

  newestBlock(): SealedBlock | undefined {
    this.need();
    const [entry] = this.tables.blocks.descending(keyOf(0), keyOf(HIGHEST), 1);
    return entry === undefined ? undefined : decodeBlock(entry.value);
  }

  /** Fills of an account in these markets. */
  fills(account: number, markets: readonly number[], query: RowPageQuery): PlacedRow[] {
    this.need(query.after?.seq === undefined ? 0 : query.after.seq + 1);
    return readPage(this.paged.fills, groupsOf(account, markets), query, this);
  }

  /** Changes of an account's balance in these markets; `NO_MARKET` is one of them. */
  ledger(
    account: number,
    markets: readonly number[],
    query: RowPageQuery,
    onRead: (rows: number) => void = () => undefined,
  ): LedgerItem[] {
    this.need();
    const groups = groupsOf(account, markets);
    const { fills, payments, ledger } = this.paged;
    return readLedger(
      {
        fills: (page) => readPage(fills, groups, page, this),
        others: (page) => [
          ...readPage(payments, groups, page, this),
          ...readPage(ledger, groups, page, this),
        ],
      },
      query,
      onRead,
    );
  }

  fundingPayments(account: number, markets: readonly number[], query: RowPageQuery): PlacedRow[] {
    this.need();
    return readPage(this.paged.payments, groupsOf(account, markets), query, this);
  }

  trades(market: number, query: RowPageQuery): PlacedRow[] {
    this.need();
    return readPage(this.paged.trades, [market], query, this);
  }

  candles(
    market: number,
    resolution: Resolution,
    query: TimeQuery,
    price: CandlePrice = "trades",
  ): TimedRow[] {
    this.need();
    const group = candleGroup(market, resolution, price);
    return timedRows(this.tables.candles, "candles", candleLengths(price), group, query);
  }

  funding(market: number, query: TimeQuery): TimedRow[] {
    this.need();
    return timedRows(this.tables.funding, "funding", FUNDING_WORDS, market, query);
  }

  /** An order of the account in one of these markets. */
  order(account: number, markets: readonly number[], id: number): readonly number[] | undefined {
    const isOpen = this.rows.orders.openRow(id) !== undefined;
    if (!isOpen) this.need(parentOf(id));
    const order = this.keptOrder(account, markets, id);
    if (order === undefined && !isOpen) this.needKept(parentOf(id));
    return order;
  }

  /** The same, undefined also for one that is not kept any more. */
  keptOrder(
    account: number,
    markets: readonly number[],
    id: number,
  ): readonly number[] | undefined {
    const open = this.rows.orders.openRow(id);
    if (open !== undefined) {
      const isOwn = open[ORDER_ROW.ACCOUNT] === account;
      return isOwn && markets.includes(open[ORDER_ROW.MARKET]!) ? Array.from(open) : undefined;
    }
    const groups = groupsOf(account, markets);
    const bytes = this.tables.orders.getInGroups(groups, parentOf(id), exitKindOf(id));
    if (bytes === undefined) return undefined;
    const row = storedRow(bytes, "orders", ORDER_ROW_LENGTHS);
    // One that is not dropped yet is gone, too.
    const isGone = parentOf(id) < this.historyBefore && !outlivesEdge(row, this.edge);
    return isGone ? undefined : row;
  }

  orders(account: number, markets: readonly number[], query: RowPageQuery): (readonly number[])[] {
    this.need();
    const page = readPage(this.paged.orders, groupsOf(account, markets), query, this);
    return page.map(({ row }) => row);
  }

  /** What changed for an account after `seq`, oldest first. */
  changesSince(account: number, seq: number, limit: number): PlacedRow[] {
    this.need(seq + 1);
    return this.tables.changes
      .ascending(keyOf(account, seq + 1), keyOf(account + 1), limit)
      .map((entry) => placedRow(entry, "changes"));
  }

  /** Of the deposits that an account watches, those that `depositOf` knows. */
  deposits<T>(
    account: number,
    { limit, after, before = LAST }: RowPageQuery,
    depositOf: (id: number) => T | undefined,
  ): FilteredRows<T> {
    this.need();
    const from = keyOf(account, after === undefined ? 0 : after.seq + 1);
    const to = keyOf(account, before.seq);
    const entries = this.tables.deposits.latest(from, to, MAX_LOOKUPS, after !== undefined);
    return filteredRows(entries, limit, ({ key }) => placeOf(key), depositOf);
  }

  /** Of an account, with their ids. */
  withdrawals(
    account: number,
    { limit, after, before = LAST }: RowPageQuery,
  ): readonly { readonly id: number; readonly row: WithdrawalRow }[] {
    this.need();
    const { withdrawals } = this.tables;
    const from = keyOf(account, after === undefined ? 0 : after.seq + 1);
    const to = keyOf(account, before.seq);
    const entries =
      after === undefined
        ? withdrawals.descending(from, to, limit)
        : withdrawals.ascending(from, to, limit);
    return entries.map(({ key, value }) => ({ id: placeOf(key), row: decodeWithdrawal(value) }));
  }

  withdrawal(account: number, id: number): WithdrawalRow | undefined {
    this.need(id);
    const bytes = this.tables.withdrawals.get(keyOf(account, id));
    return bytes === undefined ? undefined : decodeWithdrawal(bytes);
  }

  /** `place`: see WITHDRAWAL_VOTE. */
  withdrawalVote(id: number, attestor: number, place: number): VoteRow | undefined {
    this.need();
    const bytes = this.tables.withdrawalVotes.get(keyOf(id, attestor, place));
    return bytes === undefined ? undefined : decodeVote(bytes);
  }

  isDepositOf(account: number, depositId: number): boolean {
    return this.rows.deposits.watchersOf(depositId).includes(account);
  }

  vote(depositId: number, attestor: number, place: VotePlace): VoteRow | undefined {
    this.need();
    const bytes = this.tables.votes.get(voteKey(depositId, attestor, place));
    return bytes === undefined ? undefined : decodeVote(bytes);
  }

  /**
   * Orders of an account in these markets that have a name, of all sessions and in any state. `isWanted`
   * is called before an order is read.
   */
  ordersNamed(
    account: number,
    markets: readonly number[],
    name: NonceOrClientId,
    query: RowPageQuery,
    isWanted: (id: number) => boolean = () => true,
  ): FilteredRows<readonly number[]> {
    this.need();
    const range = rangeOf(this.paged.orders, groupsOf(account, markets), query, this);
    if (range === undefined) return NO_ROWS;
    const { from, to, limit, isAscending } = range;
    const { nonces, clientIds } = this.tables;
    const [table, place] =
      name.nonce === undefined
        ? [clientIds, clientIdPlace(name.clientId, 0)]
        : [nonces, name.nonce];
    const keyAt = ({ seq }: Place): Buffer => wideKeyOf(account, place, seq);
    const entries = table.latest(keyAt(from), keyAt(to), MAX_LOOKUPS, isAscending);
    return filteredRows(entries, limit, idInIndex, (id, { value }) => {
      const market = value.readUInt16BE(0);
      if (!markets.includes(market) || !isWanted(id)) return undefined;
      const order = this.keptOrder(account, [market], id);
      return order === undefined || !hasClientId(order, name.clientId) ? null : order;
    });
  }

  /** The last 24 hours of a market. */
  day(market: number): DayStats {
    return this.rows.day(market);
  }
}

/** The rows of a group whose key has a time. */
function timedRows(
  table: HistoryTable,
  name: TableName,
  words: number | readonly number[],
  group: number,
  { limit, afterMs, beforeMs = HIGHEST, fromMs = 0, toMs = HIGHEST }: TimeQuery,
): TimedRow[] {
  const from = keyOf(group, Math.max(fromMs, afterMs === undefined ? 0 : afterMs + 1));
  const to = keyOf(group, Math.min(beforeMs, toMs));
  const entries =
    afterMs === undefined ? table.descending(from, to, limit) : table.ascending(from, to, limit);
  return entries.map((entry) => timedRow(entry, name, words));
}

function timedRow(
  { key, value }: Entry,
  table: TableName,
  words: number | readonly number[],
): TimedRow {
  return { timeMs: placeOf(key), row: storedRow(value, table, words) };
}

/** Of an entry of the orders by nonce or by client id. */
function idInIndex({ key }: Entry): number {
  return lastOf(key);
}

/** Ids may share their place in the index. */
function hasClientId(row: readonly number[], clientId: ClientIdWords | undefined): boolean {
  return clientId?.every((word, i) => row[EXTENDED_ROW.CLIENT + i] === word) ?? true;
}

function groupsOf(account: number, markets: readonly number[]): number[] {
  return markets.map((market) => accountGroup(account, market));
}
