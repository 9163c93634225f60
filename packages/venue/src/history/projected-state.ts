/**
 * What the projections keep in memory, as bytes of a snapshot: a list of byte strings, each after its length
 * in four bytes, little-endian. The same log gives the same bytes, so writers sort what is in a `Map`.
 */
import { packWords, unpackWords } from "./word-blob.js";

const LENGTH_BYTES = 4;

export class ProjectedWriter {
  private readonly pieces: Buffer[] = [];

  words(words: ArrayLike<number>): void {
    this.bytes(packWords(words));
  }

  bytes(bytes: Uint8Array): void {
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32LE(bytes.length);
    this.pieces.push(length, Buffer.from(bytes));
  }

  /** The number of entries, then each. */
  each<T>(entries: readonly T[], write: (entry: T) => void): void {
    this.words([entries.length]);
    for (const entry of entries) write(entry);
  }

  end(): Buffer {
    return Buffer.concat(this.pieces);
  }
}

export class ProjectedReader {
  private at = 0;

  constructor(private readonly content: Buffer) {}

  words(): number[] {
    return unpackWords(this.bytes());
  }

  bytes(): Buffer {
    const start = this.at + LENGTH_BYTES;
    this.at = start + this.content.readUInt32LE(this.at);
    // A copy: otherwise one row would keep the whole snapshot in memory.
    return Buffer.from(this.content.subarray(start, this.at));
  }

  each(read: () => void): void {
    const [count = 0] = this.words();
    for (let i = 0; i < count; i++) read();
  }
}

/** The entries of a map by ascending key. */
export function sortedEntries<T>(map: ReadonlyMap<number, T>): [number, T][] {
  return [...map].sort(([a], [b]) => a - b);
}
