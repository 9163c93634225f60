/**
 * The signed batch that the last operation of one belonged to: one row of a table, so that a snapshot
 * between two operations restores to the same. Only operations of batches touch it.
 */
import type { BatchPlace } from "../commands.js";
import { Table, type UndoLog } from "./table.js";

/** The words of a row, in the order of the snapshot format. */
export const BATCH_WORDS = 6;

export class BatchProgress {
  readonly table: Table;

  constructor(undo: UndoLog) {
    this.table = new Table(BATCH_WORDS, undo, 1);
    this.table.append();
  }

  /** Seq of its first operation; 0: there was none yet. */
  get first(): number {
    return this.table.data[0]!;
  }
  /** Seq of its latest operation. */
  get last(): number {
    return this.table.data[1]!;
  }
  get session(): number {
    return this.table.data[2]!;
  }
  get nonce(): number {
    return this.table.data[3]!;
  }
  get count(): number {
    return this.table.data[4]!;
  }
  /** Work that is left for its operations: units or, in version 2, makers. */
  get workLeft(): number {
    return this.table.data[5]!;
  }
  setWorkLeft(left: number): void {
    this.table.touch(0);
    this.table.data[5] = left;
  }

  /** The operation at `seq` of the batch that began at `first`. */
  record(
    first: number,
    seq: number,
    session: number,
    { nonce, count }: BatchPlace,
    workLeft: number,
  ): void {
    this.table.touch(0);
    const { data } = this.table;
    data[0] = first;
    data[1] = seq;
    data[2] = session;
    data[3] = nonce;
    data[4] = count;
    data[5] = workLeft;
  }
}
