/** Collects the rows of some commands, in columns; of rows with the same key the last one. */
import { TABLES, type TableName } from "../history/history-environment.js";
import { keyOf } from "../history/keys.js";
import { ORDER_ROW } from "../history/order-row.js";
import {
  type AckCells,
  ackCells,
  CODECS,
  orderCells,
  PLACEMENT_COLUMNS,
} from "../history/row-codecs.js";
import { bytesOfWords, type RowOffset, type RowSink, type RowTable } from "../history/rows.js";
import type { Cell } from "../history/sqlite.js";
import { isArchived } from "./archive-tables.js";

/** By table of the store. */
export type CollectedRows = ReadonlyMap<string, readonly (readonly Cell[])[]>;

const IS_ARCHIVED = TABLES.map(isArchived);
const NO_ACK: readonly Cell[] = Array<null>(PLACEMENT_COLUMNS).fill(null);

interface CollectedOrder {
  words: Buffer;
  /** Of a placement among these commands. */
  readonly ack: readonly Cell[];
}

export class ArchiveRows implements RowSink {
  private readonly rows = new Map<TableName, Map<string, { key: Buffer; value: Buffer }>>();
  private readonly orders = new Map<number, CollectedOrder>();
  private readonly acks: (readonly Cell[])[] = [];
  /** Of the command whose order comes next. */
  private placement: AckCells | undefined;

  put({ number }: RowTable, key: Uint8Array, value: Uint8Array): void {
    if (IS_ARCHIVED[number] !== true) return;
    this.add(TABLES[number]!, Buffer.from(key), Buffer.from(value));
  }

  putWords(
    { number }: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length = words.length,
  ): void {
    if (IS_ARCHIVED[number] !== true) return;
    const value = bytesOfWords(Array.from({ length }, (_, i) => words[i]!));
    this.add(TABLES[number]!, keyOf(group, place, ordinal), value);
  }

  overwrite(
    _offset: RowOffset,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
    ordinal = 0,
  ): void {
    this.putWords(table, group, place, ordinal, words);
  }

  /** What was collected since the last call. */
  take(): CollectedRows {
    const taken = new Map<string, readonly (readonly Cell[])[]>();
    for (const [name, rows] of this.rows) {
      const { table, cells } = CODECS[name];
      if (table !== null)
        taken.set(
          table,
          Array.from(rows.values(), (row) => cells(row.key, row.value)),
        );
    }
    if (this.orders.size > 0) {
      taken.set(
        "order_rows",
        Array.from(this.orders.values(), ({ words, ack }) => [...orderCells(words), ...ack]),
      );
    }
    if (this.acks.length > 0) taken.set("ack_rows", this.acks.splice(0));
    this.rows.clear();
    this.orders.clear();
    return taken;
  }

  private add(table: TableName, key: Buffer, value: Buffer): void {
    if (table === "acks") {
      const ack = ackCells(key, value);
      if (ack.isPlacement) this.placement = ack;
      else this.acks.push(ack.cells);
      return;
    }
    if (table === "orders") {
      this.addOrder(value);
      return;
    }
    let rows = this.rows.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.rows.set(table, rows);
    }
    rows.set(key.toString("latin1"), { key, value });
  }

  private addOrder(words: Buffer): void {
    const id = words.readDoubleLE(ORDER_ROW.ID * 8);
    const known = this.orders.get(id);
    if (known !== undefined) {
      known.words = words;
      return;
    }
    const { placement } = this;
    const isPlaced = placement?.seq === id;
    if (isPlaced) this.placement = undefined;
    this.orders.set(id, { words, ack: isPlaced ? placement.fields : NO_ACK });
  }
}
