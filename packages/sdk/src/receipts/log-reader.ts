/** Reads a venue's transparency log over HTTP and checks all that it gets. */

import type { BlockHeader } from "@perpgate/protocol";
import {
  type BlockProof,
  type Checkpoint,
  consistencyRanges,
  entriesOf,
  hashInTile,
  inclusionRanges,
  type LeafRange,
  type ListedAck,
  provenAcks,
  provenHeader,
  rootOfSubtrees,
  subtreesOf,
  TILE_HASHES,
  type Tile,
  tileAt,
  tileOf,
  tilePath,
} from "@perpgate/protocol/receipts";

/** The venue does not hand out what its own checkpoint commits to. */
export class Withheld extends Error {
  override readonly name = "Withheld";
}

export type FetchBytes = (
  url: string,
) => Promise<{ readonly status: number; arrayBuffer(): Promise<ArrayBuffer> }>;

export interface ReadBlock {
  readonly header: BlockHeader;
  readonly proof: BlockProof;
}

export class LogReader {
  private readonly kept = new Map<string, Promise<Uint8Array>>();

  constructor(
    /** The venue's address, without a slash at the end. */
    private readonly url: string,
    private readonly fetchBytes: FetchBytes = (url) => fetch(url),
  ) {}

  /**
   * The latest checkpoint as the venue serves it.
   *
   * @throws Withheld
   * @example
   * const reader = new LogReader("http://127.0.0.1:8080");
   * console.log(await reader.checkpoint());
   */
  async checkpoint(): Promise<string> {
    return new TextDecoder().decode(await this.get("checkpoint"));
  }

  /**
   * A block under a checkpoint that covers it.
   *
   * @throws Withheld
   * @example
   * const reader = new LogReader("http://127.0.0.1:8080");
   * const checkpoint = { origin: "venue.example/log", size: 7, root: new Uint8Array(32) };
   * const { header } = await reader.block(3, checkpoint);
   * console.log(header.ackCount);
   */
  async block(number: number, checkpoint: Checkpoint): Promise<ReadBlock> {
    const { size } = checkpoint;
    const index = number - 1;
    const tile = tileAt(0, Math.floor(index / TILE_HASHES), size);
    const entries = entriesOf(await this.once(tilePath(tile, true)));
    const header = entries?.[index % TILE_HASHES];
    if (header === undefined) throw new Withheld(`block ${number} is not among the entries`);
    const path = await this.roots(inclusionRanges(index, size), size);
    const proven = provenHeader({ header, path }, checkpoint);
    if (typeof proven === "string") throw new Withheld(proven);
    if (proven.number !== number) throw new Withheld(`entry ${index} is block ${proven.number}`);
    return { header: proven, proof: { header, path } };
  }

  /**
   * The list of a block's acknowledgements.
   *
   * @throws Withheld
   * @example
   * const reader = new LogReader("http://127.0.0.1:8080");
   * const checkpoint = { origin: "venue.example/log", size: 7, root: new Uint8Array(32) };
   * const { acks } = await reader.acks(await reader.block(3, checkpoint));
   * console.log(acks.map(({ position }) => position));
   */
  async acks({
    header,
  }: ReadBlock): Promise<{ readonly list: Uint8Array; readonly acks: ListedAck[] }> {
    const list = await this.once(`acks/${header.number}`);
    const acks = provenAcks(list, header);
    if (typeof acks === "string") throw new Withheld(acks);
    return { list, acks };
  }

  /**
   * The hashes that relate a smaller tree to the checkpoint's.
   *
   * @throws Withheld
   * @example
   * const reader = new LogReader("http://127.0.0.1:8080");
   * const checkpoint = { origin: "venue.example/log", size: 7, root: new Uint8Array(32) };
   * console.log((await reader.consistency(5, checkpoint)).length);
   */
  consistency(first: number, { size }: Checkpoint): Promise<Uint8Array[]> {
    return this.roots(consistencyRanges(first, size, true), size);
  }

  private roots(ranges: readonly LeafRange[], size: number): Promise<Uint8Array[]> {
    return Promise.all(
      ranges.map(async (range) => {
        const subtrees = subtreesOf(range);
        const hashes = await Promise.all(
          subtrees.map(async (subtree) => {
            const bytes = await this.tile(tileOf(subtree, size));
            return hashInTile(subtree, bytes);
          }),
        );
        return rootOfSubtrees(hashes);
      }),
    );
  }

  private async tile(tile: Tile): Promise<Uint8Array> {
    const bytes = await this.once(tilePath(tile));
    if (bytes.length === tile.width * 32) return bytes;
    throw new Withheld(`${tilePath(tile)} has ${bytes.length} bytes`);
  }

  private once(path: string): Promise<Uint8Array> {
    let bytes = this.kept.get(path);
    if (bytes === undefined) {
      bytes = this.get(path);
      this.kept.set(path, bytes);
    }
    return bytes;
  }

  private async get(path: string): Promise<Uint8Array> {
    try {
      const response = await this.fetchBytes(`${this.url}/tlog/${path}`);
      if (response.status === 200) return new Uint8Array(await response.arrayBuffer());
      throw new Withheld(`/tlog/${path} is answered with ${response.status}`);
    } catch (error) {
      if (error instanceof Withheld) throw error;
      throw new Withheld(`/tlog/${path}: ${error instanceof Error ? error.message : error}`);
    }
  }
}
