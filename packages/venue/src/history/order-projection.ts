/**
 * Orders with their latest state, by account and id, by nonce, and by the client's id. The engine forgets ended orders and
 * does not keep fills; this table does. Rows of open orders stay in memory, and in snapshots.
 */
import {
  END,
  EVENT,
  STATUS_CANCELED,
  STATUS_FILLED,
  STATUS_PENDING,
  STATUS_RESTING,
  STOP_ORDER,
} from "@perpgate/engine";
import { CLIENT_ID_WORDS } from "@perpgate/protocol/client-order-id";
import { exitKindOf, isExitId, orderIdText, parentOf } from "@perpgate/protocol/core";
import {
  ACKNOWLEDGED,
  AMENDED,
  ENDED,
  EXIT_SIZED,
  EXTENDED,
  PLACED,
  REDUCED,
  RESTED,
  STOP_TRIGGERED,
  TRADED,
} from "../event-fields.js";
import type { ChangeProjection } from "./change-projection.js";
import { ROW_TABLES } from "./history-environment.js";
import { accountGroup, clientIdPlace, WIDE_KEY_BYTES, writeWideKey } from "./keys.js";
import {
  EXTENDED_ROW,
  EXTENDED_ROW_WORDS,
  ORDER_ROW,
  ORDER_ROW_WORDS,
  plainTimeInForce,
} from "./order-row.js";
import { type ProjectedReader, type ProjectedWriter, sortedEntries } from "./projected-state.js";
import { noOffset, type RowOffset, type RowSink, type RowTable } from "./rows.js";

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
  /** Rows of the orders in the last trade; undefined for a side without an order. */
  maker: Float64Array | undefined;
  taker: Float64Array | undefined;
  /** Of an entry by nonce or by client id. */
  private readonly wideKey = new Uint8Array(WIDE_KEY_BYTES);
  private readonly wideKeyView = new DataView(this.wideKey.buffer);
  /** The value of such an entry: the order's market. */
  private readonly market = new Uint8Array(2);
  private readonly marketView = new DataView(this.market.buffer);

  constructor(
    private readonly queue: RowSink,
    private readonly changes: ChangeProjection,
  ) {}

  /** The row of an open order; undefined if there is none with that id. */
  openRow(id: number): Float64Array | undefined {
    return this.live.get(id)?.row;
  }

  save(writer: ProjectedWriter): void {
    writer.each(sortedEntries(this.live), ([, { row }]) => writer.words(row));
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const row = Float64Array.from(reader.words());
      this.live.set(row[ORDER_ROW.ID]!, { row, offset: noOffset(), isChanged: false });
    });
  }

  onEvent(kind: number, words: Float64Array, at: number): void {
    switch (kind) {
      case EVENT.OrderPlaced:
        this.onPlaced(words, at);
        return;
      case EVENT.OrderExtended:
        this.onExtended(words, at);
        return;
      case EVENT.OrderAmended:
        this.onAmended(words, at);
        return;
      case EVENT.StopTriggered:
        // A stop that rests once it is triggered is named by `OrderRested`, which has no account.
        this.onTriggered(this.rowOf(words[at + STOP_TRIGGERED.orderId]!));
        return;
      case EVENT.OrderRested: {
        const row = this.openRow(words[at + RESTED.orderId]!);
        if (row === undefined) return;
        row[ORDER_ROW.STATUS] = STATUS_RESTING;
        row[ORDER_ROW.REMAINING] = words[at + RESTED.remainingLots]!;
        return;
      }
      case EVENT.OrderEnded:
        this.onEnded(words, at);
        return;
      case EVENT.OrderReduced: {
        const row = this.rowOf(words[at + REDUCED.orderId]!);
        row[ORDER_ROW.REMAINING] = words[at + REDUCED.remainingLots]!;
        return;
      }
      case EVENT.ExitSized: {
        const row = this.rowOf(words[at + EXIT_SIZED.orderId]!);
        row[ORDER_ROW.REMAINING] = words[at + EXIT_SIZED.remainingLots]!;
        return;
      }
      case EVENT.OrderAcknowledged:
        this.onAcknowledged(words, at);
        return;
    }
  }

  /** Writes the rows of all open orders. */
  putOpen(): void {
    for (const order of this.live.values()) this.put(order);
  }

  /** Writes what the command changed. */
  endCommand(timeMs: number): void {
    if (this.changed.length === 0) return;
    for (const order of this.changed) {
      const { row } = order;
      order.isChanged = false;
      row[ORDER_ROW.UPDATED] = timeMs;
      if (row[ORDER_ROW.CREATED] === 0) row[ORDER_ROW.CREATED] = timeMs;
      this.put(order);
      this.changes.onOrder(row[ORDER_ROW.ACCOUNT]!, row);
      const status = row[ORDER_ROW.STATUS];
      const isOpen = status === STATUS_RESTING || status === STATUS_PENDING;
      if (!isOpen) this.forget(row[ORDER_ROW.ID]!, order);
    }
    this.changed.length = 0;
  }

  private put({ row, offset }: LiveOrder): void {
    const id = row[ORDER_ROW.ID]!;
    const group = accountGroup(row[ORDER_ROW.ACCOUNT]!, row[ORDER_ROW.MARKET]!);
    this.queue.overwrite(offset, ROW_TABLES.orders, group, parentOf(id), row, exitKindOf(id));
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
    // An exit has the nonce of its order, and is found through it.
    if (isExitId(id)) {
      row[ORDER_ROW.STATUS] = STATUS_PENDING;
      return;
    }
    // The key ends with the order id: different sessions may use the same nonce.
    this.putWide(ROW_TABLES.nonces, row, row[ORDER_ROW.NONCE]!);
  }

  private putWide(table: RowTable, row: Float64Array, place: number): void {
    writeWideKey(this.wideKeyView, row[ORDER_ROW.ACCOUNT]!, place, row[ORDER_ROW.ID]!);
    this.marketView.setUint16(0, row[ORDER_ROW.MARKET]!);
    this.queue.put(table, this.wideKey, this.market);
  }

  onTraded(words: Float64Array, at: number, unitMicros: number): void {
    const lots = words[at + TRADED.lots]!;
    const micros = lots * words[at + TRADED.priceTicks]! * unitMicros;
    const maker = words[at + TRADED.makerOrderId]!;
    this.maker = maker === 0 ? undefined : this.rowOf(maker);
    if (this.maker !== undefined) {
      fill(this.maker, lots, micros, words[at + TRADED.makerFeeMicros]!);
    }
    const taker = words[at + TRADED.takerOrderId]!;
    this.taker = taker === 0 ? undefined : this.rowOf(taker);
    if (this.taker !== undefined) {
      fill(this.taker, lots, micros, words[at + TRADED.takerFeeMicros]!);
    }
  }

  /** One that closes the position stays pending while the book cannot take it. */
  private onTriggered(row: Float64Array): void {
    if (row.length > ORDER_ROW_WORDS && row[EXTENDED_ROW.CLOSE_POSITION] !== 0) {
      row[EXTENDED_ROW.CLOSE_POSITION] = 2;
    }
  }

  private onEnded(words: Float64Array, at: number): void {
    const row = this.rowOf(words[at + ENDED.orderId]!);
    const reason = words[at + ENDED.reason]!;
    row[ORDER_ROW.STATUS] = reason === END.none ? STATUS_FILLED : STATUS_CANCELED;
    row[ORDER_ROW.REASON] = reason;
    row[ORDER_ROW.REMAINING] = words[at + ENDED.remainingLots]!;
  }

  /** Follows `OrderPlaced`. */
  private onExtended(words: Float64Array, at: number): void {
    const order = this.live.get(words[at + EXTENDED.orderId]!);
    if (order === undefined) return;
    const row = extend(order);
    row[EXTENDED_ROW.TIME_IN_FORCE] = words[at + EXTENDED.timeInForce]!;
    row[EXTENDED_ROW.EXPIRES] = words[at + EXTENDED.expiresAtMs]!;
    row[EXTENDED_ROW.TRIGGER] = words[at + EXTENDED.trigger]!;
    row[EXTENDED_ROW.LIMIT] = words[at + EXTENDED.limitTicks]!;
    row[EXTENDED_ROW.CLOSE_POSITION] = words[at + EXTENDED.closePosition]!;
    const first = at + EXTENDED.client1;
    for (let i = 0; i < CLIENT_ID_WORDS; i++) row[EXTENDED_ROW.CLIENT + i] = words[first + i]!;
    if (words[first] !== 0) this.putWide(ROW_TABLES.clientIds, row, clientIdPlace(words, first));
  }

  private onAmended(words: Float64Array, at: number): void {
    const order = this.orderOf(words[at + AMENDED.orderId]!);
    const expiresAtMs = words[at + AMENDED.expiresAtMs]!;
    const limitTicks = words[at + AMENDED.limitTicks]!;
    const isExtended = order.row.length > ORDER_ROW_WORDS;
    if (isExtended || expiresAtMs !== 0 || limitTicks !== 0) {
      const row = isExtended ? order.row : extend(order);
      row[EXTENDED_ROW.EXPIRES] = expiresAtMs;
      row[EXTENDED_ROW.LIMIT] = limitTicks;
    }
    const { row } = order;
    // A stop that was triggered rests at its limit; the price that its owner set is the trigger.
    const isTriggered =
      row[ORDER_ROW.TYPE] === STOP_ORDER && row[ORDER_ROW.STATUS] === STATUS_RESTING;
    if (!isTriggered) row[ORDER_ROW.PRICE] = words[at + AMENDED.priceTicks]!;
    row[ORDER_ROW.LOTS] = words[at + AMENDED.lots]!;
    row[ORDER_ROW.REMAINING] = words[at + AMENDED.remainingLots]!;
  }

  /** The final state of a placement or an amendment; the fills are in the row already. */
  private onAcknowledged(words: Float64Array, at: number): void {
    const row = this.rowOf(words[at + ACKNOWLEDGED.orderId]!);
    row[ORDER_ROW.STATUS] = words[at + ACKNOWLEDGED.status]!;
    row[ORDER_ROW.REASON] = words[at + ACKNOWLEDGED.reason]!;
    row[ORDER_ROW.REMAINING] = words[at + ACKNOWLEDGED.remainingLots]!;
  }

  /** The row of an order that the command changes. */
  private rowOf(id: number): Float64Array {
    return this.orderOf(id).row;
  }

  private orderOf(id: number): LiveOrder {
    const order = this.live.get(id);
    if (order === undefined) throw new Error(`order ${orderIdText(id)} is not open`);
    this.markChanged(order);
    return order;
  }

  private keep(id: number, order: LiveOrder): void {
    // A reused object must not overwrite the entry of its former order.
    order.offset.slice = 0;
    this.live.set(id, order);
  }

  private forget(id: number, order: LiveOrder): void {
    this.live.delete(id);
    const isPlain = order.row.length === ORDER_ROW_WORDS;
    if (isPlain && this.spare.length < SPARE_ORDERS) this.spare.push(order);
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

/** Gives the order's row room for the terms that plain orders do not have, with their defaults. */
function extend(order: LiveOrder): Float64Array {
  const row = new Float64Array(EXTENDED_ROW_WORDS);
  row.set(order.row);
  row[EXTENDED_ROW.TIME_IN_FORCE] = plainTimeInForce(row[ORDER_ROW.TYPE]!);
  order.row = row;
  // An entry of the shorter row cannot be overwritten with the longer one.
  order.offset.slice = 0;
  return row;
}

function fill(row: Float64Array, lots: number, micros: number, feeMicros: number): void {
  row[ORDER_ROW.FILLED_LOTS] = row[ORDER_ROW.FILLED_LOTS]! + lots;
  row[ORDER_ROW.FILLED_MICROS] = row[ORDER_ROW.FILLED_MICROS]! + micros;
  row[ORDER_ROW.FEE] = row[ORDER_ROW.FEE]! + feeMicros;
  row[ORDER_ROW.REMAINING] = row[ORDER_ROW.REMAINING]! - lots;
}
