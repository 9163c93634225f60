/** Collects the rows of some commands, in columns; of rows with the same key the last one. */
import { TABLES, type TableName } from "../history/history-environment.js";
import { keyOf } from "../history/keys.js";
import { ORDER_ROW } from "../history/order-row.js";
import {
  type AckCells,
  ackCells,
  CODECS,
  type Entry,
  orderCells,
  PLACEMENT_COLUMNS,
} from "../history/row-codecs.js";
import type { RowOffset, RowSink, RowTable } from "../history/rows.js";
import type { Cell } from "../history/sqlite.js";
import { isArchived, isWrittenOnce } from "./archive-tables.js";

/** By table of the store. */
export type CollectedRows = ReadonlyMap<string, readonly (readonly Cell[])[]>;

const IS_ARCHIVED = TABLES.map(isArchived);
const IS_WRITTEN_ONCE = TABLES.map((name) => isWrittenOnce(CODECS[name].table ?? ""));
const NO_ACK: readonly Cell[] = Array<null>(PLACEMENT_COLUMNS).fill(null);

interface TableRows {
  readonly once: Entry[];
  /** By key. */
  readonly latest: Map<string, Entry>;
}

interface CollectedOrder {
  words: Buffer;
  /** Of a placement among these commands. */
  readonly ack: readonly Cell[];
}

export class ArchiveRows implements RowSink {
  private readonly rows = new Map<TableName, TableRows>();
  private readonly orders = new Map<number, CollectedOrder>();
  private readonly acks: (readonly Cell[])[] = [];
  /** Of the command whose order comes next. */
  private placement: AckCells | undefined;

  put({ number }: RowTable, key: Uint8Array, value: Uint8Array): void {
    if (IS_ARCHIVED[number] !== true) return;
    this.add(number, Buffer.from(key), Buffer.from(value));
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
    const value = new Float64Array(length);
    for (let i = 0; i < length; i++) value[i] = words[i]!;
    this.add(number, keyOf(group, place, ordinal), Buffer.from(value.buffer));
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
    for (const [name, { once, latest }] of this.rows) {
      const { table, cells } = CODECS[name];
      if (table === null) continue;
      const entries = [...once, ...latest.values()];
      taken.set(
        table,
        entries.map(({ key, value }) => cells(key, value)),
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

  private add(number: number, key: Buffer, value: Buffer): void {
    const table = TABLES[number]!;
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
      rows = { once: [], latest: new Map() };
      this.rows.set(table, rows);
    }
    if (IS_WRITTEN_ONCE[number] === true) rows.once.push({ key, value });
    else rows.latest.set(key.toString("latin1"), { key, value });
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
