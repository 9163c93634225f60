/** The way of the rows from the projections to their sink. */
import { encodeSignedAck } from "./ack-row.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import type { RowOffset, RowSink, RowTable } from "./rows.js";

/** Passes rows on while a sink is attached, and drops them otherwise. */
export class RowOutlet implements RowSink {
  private sink: RowSink | undefined;
  /** Whether the sink takes the rows of all tables. */
  isWhole = false;

  get isOn(): boolean {
    return this.sink !== undefined;
  }

  attach(sink: RowSink | undefined, isWhole: boolean): void {
    this.sink = sink;
    this.isWhole = isWhole && sink !== undefined;
  }

  putAck(seq: number, leaf: Uint8Array, signed: Uint8Array, timeMs: number): void {
    const { sink } = this;
    if (sink?.putAck !== undefined) sink.putAck(seq, leaf, signed, timeMs);
    else sink?.put(ROW_TABLES.acks, keyOf(seq), encodeSignedAck(leaf, signed, timeMs));
  }

  put(table: RowTable, key: Uint8Array, value: Uint8Array): void {
    this.sink?.put(table, key, value);
  }

  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length?: number,
  ): void {
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
    this.sink?.overwrite(offset, table, group, place, words, ordinal);
  }
}
