/**
 * Rows by a text that their owner keeps: an `IdIndex` over seeded hashes of 52 bits, and a chain
 * through the rows whose texts have the same hash. It grows a little with each change, as `IdIndex`
 * does; a `Map` moves all its entries in one go.
 */
import { IdIndex, NONE } from "./id-index.js";
import { FIXED_SEED, type HashSeed, SeededHash } from "./seeded-hash.js";
import { Int32Segments } from "./segments.js";
import type { TextCells } from "./text-cells.js";

export class TextIndex {
  private readonly firstOf = new IdIndex();
  /** By row: the next row of the chain + 1; 0 at its end. */
  private readonly nextOf = new Int32Segments();
  private readonly hash: SeededHash;

  constructor(
    private readonly texts: TextCells,
    seed: HashSeed = FIXED_SEED,
  ) {
    this.hash = new SeededHash(seed);
  }

  /** The row, or NONE. */
  get(text: string): number {
    let row = this.firstOf.get(this.hashOf(text));
    while (row !== NONE && !this.texts.isAt(row, text)) row = this.nextOf.get(row) - 1;
    return row;
  }

  /** Adds a row whose text has none. */
  add(text: string, row: number): void {
    const hash = this.hashOf(text);
    this.nextOf.set(row, this.firstOf.get(hash) + 1);
    this.firstOf.set(hash, row);
  }

  delete(text: string, row: number): void {
    const hash = this.hashOf(text);
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

  /** A whole number from 1 to 2^52, of two characters at a time. */
  private hashOf(text: string): number {
    const { hash } = this;
    hash.begin();
    for (let i = 0; i < text.length; i += 2) {
      // Beyond the end there is no character: NaN becomes 0.
      hash.add((text.charCodeAt(i) << 16) | text.charCodeAt(i + 1));
    }
    hash.add(text.length);
    return hash.end();
  }
}
