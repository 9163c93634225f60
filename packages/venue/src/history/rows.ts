/**
 * What the projections need of a store: rows by key, and somewhere to put rows. The venue puts them
 * on their way to the disk (write-queue.ts); a verifier compares them with those on the disk.
 */

export interface RowTable {
  /** By which slices name it. */
  readonly number: number;
  get(key: Buffer): Buffer | undefined;
}

/** Where a row that changes often stands, if the open slice holds it. */
export interface Spot {
  slice: number;
  at: number;
}

export function noSpot(): Spot {
  return { slice: 0, at: 0 };
}

export interface RowSink {
  put(table: RowTable, key: Uint8Array, value: Uint8Array): void;
  /** The first `length` words under a key of the usual shape. */
  putWords(
    table: RowTable,
    group: number,
    place: number,
    ordinal: number,
    words: ArrayLike<number>,
    length?: number,
  ): void;
  /** For a row that changes often and keeps its length. */
  putAgain(
    spot: Spot,
    table: RowTable,
    group: number,
    place: number,
    words: ArrayLike<number>,
  ): void;
}
