/** Collects the rows of some commands, in columns; of rows with the same key the last one. */
import { TABLES } from "../history/history-environment.js";
import { ORDER_ROW } from "../history/order-row.js";
import {
  type AckCells,
  ackCells,
  CODECS,
  orderCells,
  PLACEMENT_COLUMNS,
} from "../history/row-codecs.js";
import { eachEntry, Slice, SliceSink } from "../history/slice.js";
import type { Cell } from "../history/sqlite.js";
import { isArchived, isWrittenOnce } from "./archive-tables.js";

/** By table of the store. */
export type CollectedRows = ReadonlyMap<string, readonly (readonly Cell[])[]>;

export const ARCHIVED_TABLES = TABLES.map(isArchived);
const IS_WRITTEN_ONCE = TABLES.map((name) => isWrittenOnce(CODECS[name].table ?? ""));
const NO_ACK: readonly Cell[] = Array<null>(PLACEMENT_COLUMNS).fill(null);

/** Memory of a batch: it grows if a batch has more. */
const USUAL_BYTES = 8 * 1024 * 1024;

export class ArchiveRows extends SliceSink {
  protected open = new Slice(1);

  /** What was collected since the last call. */
  take(): CollectedRows {
    const { bytes, length, number } = this.open;
    const columns = new CollectedColumns();
    eachEntry(bytes.subarray(0, length), (table, key, value) => columns.add(table, key, value));
    // Digests and the like are views of its memory.
    this.open = new Slice(number + 1, new ArrayBuffer(USUAL_BYTES));
    return columns.end();
  }
}

interface CollectedOrder {
  cells: readonly Cell[];
  /** Of a placement among these commands. */
  readonly ack: readonly Cell[];
}

class CollectedColumns {
  private readonly rows = new Map<string, (readonly Cell[])[]>();
  /** By table and key: the place of a row that a later one replaces. */
  private readonly places = new Map<string, number>();
  private readonly orders = new Map<number, CollectedOrder>();
  /** Of the command whose order comes next. */
  private placement: AckCells | undefined;

  add(number: number, key: Buffer, value: Buffer): void {
    const name = TABLES[number]!;
    const { table, cells } = CODECS[name];
    if (table === null) return;
    if (name === "orders") this.addOrder(value);
    else if (name === "acks") this.addAck(key, value);
    else if (IS_WRITTEN_ONCE[number] === true) this.rowsOf(table).push(cells(key, value));
    else this.replace(this.rowsOf(table), `${number} ${key.toString("latin1")}`, cells(key, value));
  }

  end(): CollectedRows {
    if (this.orders.size === 0) return this.rows;
    const orders = Array.from(this.orders.values(), ({ cells, ack }) => [...cells, ...ack]);
    return this.rows.set("order_rows", orders);
  }

  private replace(rows: (readonly Cell[])[], key: string, cells: readonly Cell[]): void {
    const place = this.places.get(key) ?? rows.length;
    this.places.set(key, place);
    rows[place] = cells;
  }

  private addAck(key: Buffer, value: Buffer): void {
    const ack = ackCells(key, value);
    if (ack.isPlacement) this.placement = ack;
    else this.rowsOf("ack_rows").push(ack.cells);
  }

  private addOrder(value: Buffer): void {
    const { placement } = this;
    const cells = orderCells(value);
    const id = Number(cells[ORDER_ROW.ID]);
    const known = this.orders.get(id);
    if (known !== undefined) {
      known.cells = cells;
      return;
    }
    const isPlaced = placement?.seq === id;
    if (isPlaced) this.placement = undefined;
    this.orders.set(id, { cells, ack: isPlaced ? placement.fields : NO_ACK });
  }

  private rowsOf(table: string): (readonly Cell[])[] {
    const known = this.rows.get(table);
    if (known !== undefined) return known;
    const rows: (readonly Cell[])[] = [];
    this.rows.set(table, rows);
    return rows;
  }
}
