/**
 * The acknowledgements of sealed blocks as trees, for proofs and lists. A block may have ten thousand of
 * them, so a tree is built in slices, one per turn of the event loop, and kept while its block is among
 * the last that were asked for: a sealed block never changes.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { AckRow } from "../history/ack-row.js";
import { AckList } from "./ack-list.js";
import type { SealedBlock } from "./block-header.js";
import { MerkleTree } from "./merkle.js";

/** Some three seconds of blocks. One of ten thousand acknowledgements takes about a megabyte. */
const KEPT_BLOCKS = 16;
const ROWS_PER_TURN = 128;

/** What is read of a history. */
interface AckSource {
  readonly isClosed: boolean;
  acksBetween(first: number, last: number, limit: number): AckRow[];
  read<T>(work: () => T): Promise<T>;
}

class AckTree {
  private readonly indexes = new Map<number, number>();
  private readonly tree = new MerkleTree();
  private readonly entries = new AckList();

  add({ seq, leaf }: AckRow): void {
    this.indexes.set(seq, this.indexes.size);
    this.entries.add(seq, this.tree.add(leaf));
  }

  /** The place of the acknowledgement at a seq of the block, and its path to the block's root. */
  proof(seq: number): { readonly index: number; readonly path: Buffer[] } {
    const index = this.indexes.get(seq) ?? -1;
    return { index, path: this.tree.path(index) };
  }

  /** The bytes whose hash is the block's `ackListHash`; must not be changed. */
  get list(): Buffer {
    return this.entries.encoded;
  }
}

export class AckTrees {
  private readonly kept = new LRUCache<number, Promise<AckTree>>({ max: KEPT_BLOCKS });

  constructor(private readonly source: AckSource) {}

  /** `onRead` gets the number of rows that this call reads; it is not called for a tree that is kept. */
  of(block: SealedBlock, onRead: (rows: number) => void): Promise<AckTree> {
    const kept = this.kept.get(block.number);
    if (kept !== undefined) return kept;
    onRead(block.ackCount);
    const built = this.build(block);
    this.kept.set(block.number, built);
    built.catch(() => this.kept.delete(block.number));
    return built;
  }

  private async build({ firstPosition, lastPosition }: SealedBlock): Promise<AckTree> {
    const tree = new AckTree();
    for (let from = firstPosition; ; await nextTurn()) {
      if (this.source.isClosed) throw new Error("the history is closed");
      const { source } = this;
      const page = await source.read(() => source.acksBetween(from, lastPosition, ROWS_PER_TURN));
      for (const ack of page) tree.add(ack);
      if (page.length < ROWS_PER_TURN) return tree;
      from = page.at(-1)!.seq + 1;
    }
  }
}
