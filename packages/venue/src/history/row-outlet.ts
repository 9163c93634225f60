/** The way of the rows from the projections to their sink. */
import { encodeSignedAck } from "./ack-row.js";
import { ROW_TABLES, TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import type { RowOffset, RowSink, RowTable } from "./rows.js";

/** By table number: whether a sink takes the table's rows. */
export type TakenTables = readonly boolean[];

const ALL_TABLES: TakenTables = TABLES.map(() => true);
const NO_TABLES: TakenTables = [];

/** Passes on the rows of the tables that the attached sink takes, and drops the others. */
export class RowOutlet implements RowSink {
  private sink: RowSink | undefined;
  private taken = NO_TABLES;
  /** Whether fills, ledger and changes are taken. */
  isWhole = false;

  get isOn(): boolean {
    return this.sink !== undefined;
  }

  attach(sink: RowSink | undefined, taken = ALL_TABLES): void {
    this.sink = sink;
    this.taken = sink === undefined ? NO_TABLES : taken;
    this.isWhole = this.taken[ROW_TABLES.fills.number] === true;
  }

  putAck(seq: number, leaf: Uint8Array, signed: Uint8Array, timeMs: number): void {
    const { sink } = this;
    if (sink?.putAck !== undefined) sink.putAck(seq, leaf, signed, timeMs);
    else if (this.taken[ROW_TABLES.acks.number] === true) {
      sink?.put(ROW_TABLES.acks, keyOf(seq), encodeSignedAck(leaf, signed, timeMs));
    }
  }

  put(table: RowTable, key: Uint8Array, value: Uint8Array): void {
    if (this.taken[table.number] === true) this.sink?.put(table, key, value);
  }

  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length?: number,
  ): void {
    if (this.taken[table.number] !== true) return;
    this.sink?.putWords(table, group, place, ordinal, words, length);
  }

  overwrite(
    offset: RowOffset,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
    ordinal?: number,
  ): void {
    if (this.taken[table.number] !== true) return;
    this.sink?.overwrite(offset, table, group, place, words, ordinal);
  }
}
