/**
 * Rows by a text that their owner keeps: an `IdIndex` over hashes of 52 bits, and a chain through the
 * rows whose texts have the same hash. It grows a little with each change, as `IdIndex` does; a `Map`
 * moves all its entries in one go.
 */
import { IdIndex, NONE } from "./id-index.js";
import { Int32Segments } from "./segments.js";
import type { TextCells } from "./text-cells.js";

export class TextIndex {
  private readonly firstOf = new IdIndex();
  /** By row: the next row of the chain + 1; 0 at its end. */
  private readonly nextOf = new Int32Segments();

  constructor(private readonly texts: TextCells) {}

  /** The row, or NONE. */
  get(text: string): number {
    let row = this.firstOf.get(hashOf(text));
    while (row !== NONE && !this.texts.isAt(row, text)) row = this.nextOf.get(row) - 1;
    return row;
  }

  /** Adds a row whose text has none. */
  add(text: string, row: number): void {
    const hash = hashOf(text);
    this.nextOf.set(row, this.firstOf.get(hash) + 1);
    this.firstOf.set(hash, row);
  }

  delete(text: string, row: number): void {
    const hash = hashOf(text);
    const first = this.firstOf.get(hash);
    const next = this.nextOf.get(row) - 1;
    if (first === row) {
      if (next === NONE) this.firstOf.delete(hash);
      else this.firstOf.set(hash, next);
      return;
    }
    let before = first;
    while (this.nextOf.get(before) - 1 !== row) before = this.nextOf.get(before) - 1;
    this.nextOf.set(before, next + 1);
  }
}

/** Two multiplicative hashes of the text in one integer from 1 to 2^52. */
function hashOf(text: string): number {
  let high = 0x811c_9dc5;
  let low = 0x9747_b28c;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    high = Math.imul(high ^ unit, 0x0100_0193);
    low = Math.imul(low + unit, 0x85eb_ca6b);
    low ^= low >>> 13;
  }
  return (high >>> 0) * 2 ** 20 + (low >>> 12) + 1;
}
