/** The reads of a history: pages of rows, newest first, from memory and disk. */
import type { Resolution } from "@perpgate/protocol";
import { decodeBlock, HASH_BYTES, type SealedBlock } from "../blocks/block-header.js";
import { HistoryDamaged } from "../venue-errors.js";
import { CANDLE_ROW, CANDLE_WORDS, candleGroup, RESOLUTION_MS } from "./candle-projection.js";
import { DayStats } from "./day-stats.js";
import { decodeVote, type VotePlace, type VoteRow, voteKey } from "./deposit-projection.js";
import { FILL_LENGTHS, TRADE_WORDS } from "./fill-projection.js";
import type { TableName } from "./history-environment.js";
import type { Tables } from "./history-store.js";
import type { Entry } from "./history-table.js";
import { groupOf, keyOf, ordinalOf, placeOf } from "./keys.js";
import { ORDER_ROW_LENGTHS } from "./order-projection.js";
import { storedRow } from "./rows.js";

/** A row with its place in the total order. */
export interface PlacedRow {
  readonly seq: number;
  readonly ordinal: number;
  readonly row: Float64Array;
}

export interface TimedRow {
  readonly timeMs: number;
  readonly row: Float64Array;
}

export interface AckRow {
  readonly seq: number;
  /** The canonical bytes of the OrderAcknowledged event: the leaf of the block's tree. */
  readonly leaf: Buffer;
  /** SHA-256 of the body that was signed. */
  readonly digest: Buffer;
}

/** Above every seq and time. */
const HIGHEST = Number.MAX_SAFE_INTEGER;
/** The rate and the mark. */
const FUNDING_WORDS = 2;
const DAY_MINUTES = 1_440;

export class HistoryReader {
  private readonly days = new Map<number, DayStats>();

  constructor(private readonly tables: Tables) {}

  ack(seq: number): AckRow | undefined {
    const bytes = this.tables.acks.get(keyOf(seq));
    return bytes === undefined ? undefined : ackRow(seq, bytes);
  }

  /** The acknowledgements of a range of the log, in order. */
  acksBetween(first: number, last: number): AckRow[] {
    const entries = this.tables.acks.ascending(keyOf(first), keyOf(last + 1), last - first + 1);
    return entries.map(({ key, value }) => ackRow(groupOf(key), value));
  }

  block(number: number): SealedBlock | undefined {
    const bytes = this.tables.blocks.get(keyOf(number));
    if (bytes === undefined) return undefined;
    const block = decodeBlock(bytes);
    if (block === undefined || block.number !== number) {
      throw new HistoryDamaged(`block ${number} is no block header`);
    }
    return block;
  }

  newestBlock(): SealedBlock | undefined {
    const [entry] = this.tables.blocks.descending(keyOf(0), keyOf(HIGHEST), 1);
    return entry === undefined ? undefined : decodeBlock(entry.value);
  }

  /** Fills of an account before `before` (by default all), newest first. */
  fills(account: number, limit: number, before?: { seq: number; ordinal: number }) {
    const to =
      before === undefined ? keyOf(account + 1) : keyOf(account, before.seq, before.ordinal);
    return this.tables.fills
      .descending(keyOf(account), to, limit)
      .map((entry) => placedRow(entry, "fills", FILL_LENGTHS));
  }

  trades(market: number, limit: number): PlacedRow[] {
    return this.tables.trades
      .descending(keyOf(market), keyOf(market + 1), limit)
      .map((entry) => placedRow(entry, "trades", TRADE_WORDS));
  }

  candles(market: number, resolution: Resolution, limit: number, beforeMs?: number): TimedRow[] {
    const group = candleGroup(market, resolution);
    const to = beforeMs === undefined ? keyOf(group + 1) : keyOf(group, beforeMs);
    return this.tables.candles
      .descending(keyOf(group), to, limit)
      .map((entry) => timedRow(entry, "candles", CANDLE_WORDS));
  }

  funding(market: number, limit: number): TimedRow[] {
    return this.tables.funding
      .descending(keyOf(market), keyOf(market + 1), limit)
      .map((entry) => timedRow(entry, "funding", FUNDING_WORDS));
  }

  order(account: number, id: number): Float64Array | undefined {
    const bytes = this.tables.orders.get(keyOf(account, id));
    return bytes === undefined ? undefined : storedRow(bytes, "orders", ORDER_ROW_LENGTHS);
  }

  orders(account: number, limit: number): Float64Array[] {
    const entries = this.tables.orders.descending(keyOf(account), keyOf(account + 1), limit);
    return entries.map(({ value }) => storedRow(value, "orders", ORDER_ROW_LENGTHS));
  }

  /** What changed for an account after `seq`, oldest first. */
  changesSince(account: number, seq: number, limit: number): PlacedRow[] {
    return this.tables.changes
      .ascending(keyOf(account, seq + 1), keyOf(account + 1), limit)
      .map((entry) => placedRow(entry, "changes"));
  }

  /** Deposits that an account watches, newest first. */
  deposits(account: number, limit: number): number[] {
    const entries = this.tables.deposits.descending(keyOf(account), keyOf(account + 1), limit);
    return entries.map(({ key }) => placeOf(key));
  }

  isDepositOf(account: number, depositId: number): boolean {
    return this.tables.deposits.get(keyOf(account, depositId)) !== undefined;
  }

  vote(depositId: number, attestor: number, place: VotePlace): VoteRow | undefined {
    const bytes = this.tables.votes.get(voteKey(depositId, attestor, place));
    return bytes === undefined ? undefined : decodeVote(bytes);
  }

  /** Orders with the nonce, of all sessions, newest first. */
  ordersByNonce(account: number, nonce: number, limit: number): Float64Array[] {
    const from = keyOf(account, nonce).subarray(0, 16);
    const to = keyOf(account, nonce + 1).subarray(0, 16);
    return this.tables.nonces.descending(from, to, limit).flatMap(({ key }) => {
      const order = this.order(account, placeOf(key.subarray(8)));
      return order === undefined ? [] : [order];
    });
  }

  /** The last 24 hours of a market, loaded from its minute candles on the first call. */
  day(market: number, timeMs: number): DayStats {
    let day = this.days.get(market);
    if (day === undefined) {
      day = new DayStats();
      const floor = timeMs - DAY_MINUTES * RESOLUTION_MS["1m"];
      for (const { timeMs: at, row } of this.candles(market, "1m", DAY_MINUTES)) {
        if (at <= floor) break;
        day.load(
          at,
          row[CANDLE_ROW.OPEN]!,
          row[CANDLE_ROW.HIGH]!,
          row[CANDLE_ROW.LOW]!,
          row[CANDLE_ROW.CLOSE]!,
          row[CANDLE_ROW.LOTS]!,
        );
      }
      this.days.set(market, day);
    }
    return day;
  }
}

function ackRow(seq: number, bytes: Buffer): AckRow {
  const split = bytes.length - HASH_BYTES;
  if (split <= 0) throw new HistoryDamaged(`the acknowledgement at ${seq} is cut short`);
  return { seq, leaf: bytes.subarray(0, split), digest: bytes.subarray(split) };
}

function placedRow(
  { key, value }: Entry,
  table: TableName,
  words?: number | readonly number[],
): PlacedRow {
  return { seq: placeOf(key), ordinal: ordinalOf(key), row: storedRow(value, table, words) };
}

function timedRow({ key, value }: Entry, table: TableName, words: number): TimedRow {
  return { timeMs: placeOf(key), row: storedRow(value, table, words) };
}
