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
import { LRUCache } from "lru-cache";
import { nodeHash, sha256 } from "../blocks/merkle.js";
import type { HistoryReader } from "../history/history-reader.js";
import { HistoryDamaged } from "../venue-errors.js";

/** The hashes of some 64 tiles. */
const KEPT_HASHES = 32_768;

/** Gets the number of hashes that a call reads from the history; hashes that are kept are not read. */
type OnRead = (hashes: number) => void;

export class BlockTree {
  /**
   * Hashes of complete subtrees, which never change. The history stores only those of every eighth level:
   * without this, each path of a block would compute the 255 hashes of its tile.
   */
  private readonly kept = new LRUCache<string, Buffer>({ max: KEPT_HASHES });

  constructor(
    private readonly history: Pick<HistoryReader, "headers" | "newestBlock" | "treeHashes">,
  ) {}

  /** Number of sealed blocks. */
  get size(): number {
    return this.history.newestBlock()?.number ?? 0;
  }

  rootAt(size: number): Buffer {
    return size === 0 ? sha256(new Uint8Array(0)) : this.rangeRoot({ start: 0, end: size });
  }

  inclusion(index: number, size: number, onRead?: OnRead): Buffer[] {
    return inclusionRanges(index, size).map((range) => this.rangeRoot(range, onRead));
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

  private rangeRoot(range: LeafRange, onRead?: OnRead): Buffer {
    const hashes = subtreesOf(range).map((subtree) => this.subtreeHash(subtree, onRead));
    return hashes.reduceRight((right, left) => nodeHash(left, right));
  }

  private subtreeHash({ level, index }: Subtree, onRead?: OnRead): Buffer {
    const kept = this.kept.get(keyOf(level, index));
    if (kept !== undefined) return kept;
    const height = level % TILE_LEVELS;
    const count = 2 ** height;
    onRead?.(count);
    let hashes = this.history.treeHashes(Math.floor(level / TILE_LEVELS), index * count, count);
    if (hashes.length !== count) throw new HistoryDamaged("hashes of the block tree are missing");
    for (let above = 1; above <= height; above++) {
      const first = index * 2 ** (height - above);
      hashes = pairwise(hashes);
      for (const [i, hash] of hashes.entries()) {
        this.kept.set(keyOf(level - height + above, first + i), hash);
      }
    }
    const hash = hashes[0]!;
    this.kept.set(keyOf(level, index), hash);
    return hash;
  }
}

function keyOf(level: number, index: number): string {
  return `${level}/${index}`;
}

/** The nodes above a level's, whose number is even. */
function pairwise(hashes: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let i = 0; i < hashes.length; i += 2) above.push(nodeHash(hashes[i]!, hashes[i + 1]!));
  return above;
}
