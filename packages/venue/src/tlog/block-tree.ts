/**
 * The tree of the transparency log as the history stores it (history/tree-projection.ts): roots, proofs,
 * tiles and bundles of entries. Entry i is the header of block i + 1.
 */
import {
  consistencyRanges,
  inclusionRanges,
  type LeafRange,
  type Subtree,
  subtreesOf,
  TILE_HASHES,
  TILE_LEVELS,
  type Tile,
} from "@perpgate/protocol/receipts";
import { nodeHash, rootOfHashes, sha256 } from "../blocks/merkle.js";
import type { HistoryReader } from "../history/history-reader.js";
import { HistoryDamaged } from "../venue-errors.js";

export class BlockTree {
  constructor(private readonly history: HistoryReader) {}

  /** Number of sealed blocks. */
  get size(): number {
    return this.history.newestBlock()?.number ?? 0;
  }

  rootAt(size: number): Buffer {
    return size === 0 ? sha256(new Uint8Array(0)) : this.rangeRoot({ start: 0, end: size });
  }

  inclusion(index: number, size: number): Buffer[] {
    return inclusionRanges(index, size).map((range) => this.rangeRoot(range));
  }

  /** From `first` entries to `second`; of nothing there is nothing to prove. */
  consistency(first: number, second: number): Buffer[] {
    if (first === 0) return [];
    return consistencyRanges(first, second).map((range) => this.rangeRoot(range));
  }

  /** The bytes of a tile; undefined if the tree has not grown to it. */
  tile({ level, index, width }: Tile): Buffer | undefined {
    const hashes = this.history.treeHashes(level, index * TILE_HASHES, width);
    return hashes.length === width ? Buffer.concat(hashes) : undefined;
  }

  /** Entries, each after its length in two bytes; undefined if the tree has not grown to all of them. */
  bundle({ index, width }: Tile): Buffer | undefined {
    const first = index * TILE_HASHES + 1;
    const headers = this.history.headers(first, first + width - 1);
    if (headers.length !== width) return undefined;
    return Buffer.concat(
      headers.flatMap((header) => [Buffer.of(header.length >> 8, header.length & 0xff), header]),
    );
  }

  private rangeRoot(range: LeafRange): Buffer {
    const hashes = subtreesOf(range).map((subtree) => this.subtreeHash(subtree));
    return hashes.reduceRight((right, left) => nodeHash(left, right));
  }

  private subtreeHash({ level, index }: Subtree): Buffer {
    const count = 2 ** (level % TILE_LEVELS);
    const stored = Math.floor(level / TILE_LEVELS);
    const hashes = this.history.treeHashes(stored, index * count, count);
    if (hashes.length !== count) throw new HistoryDamaged("hashes of the block tree are missing");
    return count === 1 ? hashes[0]! : rootOfHashes(hashes);
  }
}
