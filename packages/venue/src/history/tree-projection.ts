/**
 * The tree of the transparency log, whose entries are the headers of the sealed blocks: the hashes that its
 * tiles consist of, by level of tile and index. Level 0 has the hash of every entry; each level above has
 * the root of every 256 hashes of the level below.
 */
import { TILE_HASHES } from "@perpgate/protocol/receipts";
import { leafHash, rootOfHashes } from "../blocks/merkle.js";
import { HistoryDamaged } from "../venue-errors.js";
import { keyOf } from "./keys.js";
import type { RowSink, RowTable } from "./rows.js";

export class TreeProjection {
  constructor(
    private readonly tree: RowTable,
    private readonly sink: RowSink,
  ) {}

  /** `header` is that of block `number`: entry `number` − 1. */
  onSealed(number: number, header: Uint8Array): void {
    let hash = leafHash(header);
    let index = number - 1;
    for (let level = 0; ; level++) {
      this.sink.put(this.tree, keyOf(level, index), hash);
      if ((index + 1) % TILE_HASHES !== 0) return;
      const first = index + 1 - TILE_HASHES;
      const below = Array.from({ length: TILE_HASHES - 1 }, (_, i) => this.at(level, first + i));
      hash = rootOfHashes([...below, hash]);
      index = first / TILE_HASHES;
    }
  }

  private at(level: number, index: number): Buffer {
    const hash = this.tree.get(keyOf(level, index));
    if (hash === undefined)
      throw new HistoryDamaged(`hash ${level}/${index} of the tree is missing`);
    return hash;
  }
}
