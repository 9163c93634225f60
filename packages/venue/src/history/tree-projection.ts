/**
 * The tree of the transparency log, whose entries are the headers of the sealed blocks: the hashes that its
 * tiles consist of, by level of tile and index. Level 0 has the hash of every entry; each level above has
 * the root of every 256 hashes of the level below.
 */
import { TILE_HASHES } from "@perpgate/protocol/receipts";
import { leafHash, rootOfHashes } from "../blocks/merkle.js";
import { ROW_TABLES } from "./history-environment.js";
import { keyOf } from "./keys.js";
import type { ProjectedReader, ProjectedWriter } from "./projected-state.js";
import type { RowSink } from "./rows.js";

export class TreeProjection {
  /** By level: the hashes of its last tile, while that is not full. */
  private readonly edges: Uint8Array[][] = [];

  constructor(private readonly sink: RowSink) {}

  save(writer: ProjectedWriter): void {
    writer.each(this.edges, (edge) => writer.each(edge, (hash) => writer.bytes(hash)));
  }

  load(reader: ProjectedReader): void {
    reader.each(() => {
      const edge: Uint8Array[] = [];
      reader.each(() => edge.push(reader.bytes()));
      this.edges.push(edge);
    });
  }

  /** `header` is that of block `number`: entry `number` − 1. */
  onSealed(number: number, header: Uint8Array): void {
    let hash = leafHash(header);
    let index = number - 1;
    for (let level = 0; ; level++) {
      this.sink.put(ROW_TABLES.tree, keyOf(level, index), hash);
      if (level === this.edges.length) this.edges.push([]);
      const edge = this.edges[level]!;
      edge.push(hash);
      if (edge.length < TILE_HASHES) return;
      hash = rootOfHashes(edge.splice(0));
      index = Math.floor(index / TILE_HASHES);
    }
  }
}
