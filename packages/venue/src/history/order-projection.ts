/**
 * Orders with their latest state, by account and id, and by nonce. The engine forgets ended orders and
 * does not keep fills; this table does. Rows of open orders stay in memory, and are read back one by
 * one after a restart.
 */
import {
  END,
  EVENT,
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
} from "@perpgate/engine";
import { ACKNOWLEDGED, ENDED, PLACED, REDUCED, RESTED, TRADED } from "../events/event-fields.js";
import { HistoryDamaged } from "../venue-errors.js";
import type { ChangeProjection } from "./change-projection.js";
import { keyOf, WIDE_KEY_BYTES, writeWideKey } from "./keys.js";
import { noOffset, type RowOffset, type RowSink, type RowTable, storedRow } from "./rows.js";

/** Words of an order's row, in integers. */
export const ORDER_ROW_WORDS = 21;
export const ORDER_ROW = {
  ID: 0,
  ACCOUNT: 1,
  MARKET: 2,
  SIDE: 3,
  TYPE: 4,
  /** 0: none. */
  PRICE: 5,
  LOTS: 6,
  MARGIN: 7,
  LEVERAGE: 8,
  REDUCE_ONLY: 9,
  POST_ONLY: 10,
  NONCE: 11,
  SESSION: 12,
  /** Index into the engine's ORDER_STATUSES. */
  STATUS: 13,
  /** Index into the engine's END_REASONS. */
  REASON: 14,
  FILLED_LOTS: 15,
  FILLED_MICROS: 16,
  FEE: 17,
  REMAINING: 18,
  CREATED: 19,
  UPDATED: 20,
} as const;

/** Value of an entry that has only a key. */
const PRESENT = Uint8Array.of(1);

interface LiveOrder {
  row: Float64Array;
  readonly offset: RowOffset;
  isChanged: boolean;
}

/** Ended orders kept for reuse. */
const SPARE_ORDERS = 1_024;

export class OrderProjection {
  private readonly live = new Map<number, LiveOrder>();
  /** Orders that the current command has changed. */
  private readonly changed: LiveOrder[] = [];
  private readonly spare: LiveOrder[] = [];
  private readonly nonceKey = new Uint8Array(WIDE_KEY_BYTES);
  private readonly nonceKeyView = new DataView(this.nonceKey.buffer);

  constructor(
    private readonly orders: RowTable,
    private readonly nonces: RowTable,
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
  ) {}

  onEvent(kind: number, words: Float64Array, at: number, unitMicros: number): void {
    switch (kind) {
      case EVENT.OrderPlaced:
        this.onPlaced(words, at);
        return;
      case EVENT.Traded:
        this.onTraded(words, at, unitMicros);
        return;
      case EVENT.OrderRested: {
        const row = this.live.get(words[at + RESTED.orderId]!)?.row;
        if (row === undefined) return;
        row[ORDER_ROW.STATUS] = STATUS_RESTING;
        row[ORDER_ROW.REMAINING] = words[at + RESTED.remainingLots]!;
        return;
      }
      case EVENT.OrderEnded:
        this.onEnded(words, at);
        return;
      case EVENT.OrderReduced: {
        const row = this.rowOf(words[at + REDUCED.account]!, words[at + REDUCED.orderId]!);
        row[ORDER_ROW.REMAINING] = words[at + REDUCED.remainingLots]!;
        return;
      }
      case EVENT.OrderAcknowledged:
        this.onAcknowledged(words, at);
        return;
    }
  }

  /** Writes what the command changed. */
  endCommand(timeMs: number): void {
    if (this.changed.length === 0) return;
    for (const order of this.changed) {
      const { row, offset } = order;
      order.isChanged = false;
      row[ORDER_ROW.UPDATED] = timeMs;
      if (row[ORDER_ROW.CREATED] === 0) row[ORDER_ROW.CREATED] = timeMs;
      const account = row[ORDER_ROW.ACCOUNT]!;
      const id = row[ORDER_ROW.ID]!;
      this.queue.overwrite(offset, this.orders, account, id, row);
      this.changes.onOrder(account, row);
      const status = row[ORDER_ROW.STATUS];
      const isOpen = status === STATUS_RESTING || status === STATUS_PENDING;
      if (!isOpen) this.forget(id, order);
    }
    this.changed.length = 0;
  }

  private onPlaced(words: Float64Array, at: number): void {
    const order = this.spare.pop() ?? newOrder();
    const { row } = order;
    row.fill(0);
    row[ORDER_ROW.ID] = words[at + PLACED.orderId]!;
    row[ORDER_ROW.ACCOUNT] = words[at + PLACED.account]!;
    row[ORDER_ROW.MARKET] = words[at + PLACED.market]!;
    row[ORDER_ROW.SIDE] = words[at + PLACED.side]!;
    row[ORDER_ROW.TYPE] = words[at + PLACED.type]!;
    row[ORDER_ROW.PRICE] = words[at + PLACED.priceTicks]!;
    row[ORDER_ROW.LOTS] = words[at + PLACED.lots]!;
    row[ORDER_ROW.MARGIN] = words[at + PLACED.marginMicros]!;
    row[ORDER_ROW.LEVERAGE] = words[at + PLACED.leverage]!;
    row[ORDER_ROW.REDUCE_ONLY] = words[at + PLACED.reduceOnly]!;
    row[ORDER_ROW.POST_ONLY] = words[at + PLACED.postOnly]!;
    row[ORDER_ROW.NONCE] = words[at + PLACED.nonce]!;
    row[ORDER_ROW.SESSION] = words[at + PLACED.session]!;
    row[ORDER_ROW.REMAINING] = words[at + PLACED.lots]!;
    const id = row[ORDER_ROW.ID]!;
    this.keep(id, order);
    this.markChanged(order);
    // The key ends with the order id: different sessions may use the same nonce.
    writeWideKey(this.nonceKeyView, row[ORDER_ROW.ACCOUNT]!, row[ORDER_ROW.NONCE]!, id);
    this.queue.put(this.nonces, this.nonceKey, PRESENT);
  }

  private onTraded(words: Float64Array, at: number, unitMicros: number): void {
    const lots = words[at + TRADED.lots]!;
    const micros = lots * words[at + TRADED.priceTicks]! * unitMicros;
    const maker = words[at + TRADED.makerOrderId]!;
    if (maker !== 0) {
      const row = this.rowOf(words[at + TRADED.makerAccount]!, maker);
      fill(row, lots, micros, words[at + TRADED.makerFeeMicros]!);
    }
    const taker = words[at + TRADED.takerOrderId]!;
    if (taker !== 0) {
      const row = this.rowOf(words[at + TRADED.takerAccount]!, taker);
      fill(row, lots, micros, words[at + TRADED.takerFeeMicros]!);
    }
  }

  private onEnded(words: Float64Array, at: number): void {
    const row = this.rowOf(words[at + ENDED.account]!, words[at + ENDED.orderId]!);
    const reason = words[at + ENDED.reason]!;
    row[ORDER_ROW.STATUS] = reason === END.none ? STATUS_FILLED : STATUS_CANCELED;
    row[ORDER_ROW.REASON] = reason;
    row[ORDER_ROW.REMAINING] = words[at + ENDED.remainingLots]!;
  }

  /** The final state of the order's own command. */
  private onAcknowledged(words: Float64Array, at: number): void {
    const account = words[at + ACKNOWLEDGED.account]!;
    const row = this.rowOf(account, words[at + ACKNOWLEDGED.orderId]!);
    row[ORDER_ROW.STATUS] = words[at + ACKNOWLEDGED.status]!;
    row[ORDER_ROW.REASON] = words[at + ACKNOWLEDGED.reason]!;
    row[ORDER_ROW.FILLED_LOTS] = words[at + ACKNOWLEDGED.filledLots]!;
    row[ORDER_ROW.FILLED_MICROS] = words[at + ACKNOWLEDGED.filledMicros]!;
    row[ORDER_ROW.FEE] = words[at + ACKNOWLEDGED.feeMicros]!;
    row[ORDER_ROW.REMAINING] = words[at + ACKNOWLEDGED.remainingLots]!;
  }

  /** The row of an order that the command changes. */
  private rowOf(account: number, id: number): Float64Array {
    let order = this.live.get(id);
    if (order === undefined) {
      order = this.spare.pop() ?? newOrder();
      order.row = this.stored(account, id);
      this.keep(id, order);
    }
    this.markChanged(order);
    return order.row;
  }

  private stored(account: number, id: number): Float64Array {
    const bytes = this.orders.get(keyOf(account, id));
    if (bytes === undefined) throw new HistoryDamaged(`there is no order ${id}`);
    return storedRow(bytes, "orders", ORDER_ROW_WORDS);
  }

  private keep(id: number, order: LiveOrder): void {
    // A reused object must not overwrite the entry of its former order.
    order.offset.slice = 0;
    this.live.set(id, order);
  }

  private forget(id: number, order: LiveOrder): void {
    this.live.delete(id);
    if (this.spare.length < SPARE_ORDERS) this.spare.push(order);
  }

  private markChanged(order: LiveOrder): void {
    if (order.isChanged) return;
    order.isChanged = true;
    this.changed.push(order);
  }
}

function newOrder(): LiveOrder {
  return { row: new Float64Array(ORDER_ROW_WORDS), offset: noOffset(), isChanged: false };
}

function fill(row: Float64Array, lots: number, micros: number, feeMicros: number): void {
  row[ORDER_ROW.FILLED_LOTS] = row[ORDER_ROW.FILLED_LOTS]! + lots;
  row[ORDER_ROW.FILLED_MICROS] = row[ORDER_ROW.FILLED_MICROS]! + micros;
  row[ORDER_ROW.FEE] = row[ORDER_ROW.FEE]! + feeMicros;
  row[ORDER_ROW.REMAINING] = row[ORDER_ROW.REMAINING]! - lots;
}
