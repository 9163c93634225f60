/**
 * Reads a venue's transparency log over HTTP and checks all that it gets.
 *
 * A request that fails is repeated a few times: a rate limit, a restart or a gateway that lags behind is no
 * withholding. No response may take longer or be larger than the log permits.
 */

import {
  BLOCK_HEADER_BYTES,
  type BlockHeader,
  BodyTooLargeError,
  boundedBytes,
  TimeLimitError,
  withTimeLimit,
} from "@perpgate/protocol";
import {
  ACK_ENTRY_BYTES,
  type BlockProof,
  type Checkpoint,
  consistencyRanges,
  entriesOf,
  hashInTile,
  inclusionRanges,
  type LeafRange,
  type ListedAck,
  MAX_SUCCESSOR_BYTES,
  parseNotes,
  provenAcks,
  provenHeader,
  rootOfSubtrees,
  subtreesOf,
  TILE_HASHES,
  type Tile,
  TREE_HASH_BYTES,
  tileAt,
  tileOf,
  tilePath,
} from "@perpgate/protocol/receipts";
import { type HeadersLike, retryAfterMsOf } from "../http/limit-headers.js";
import { pause } from "../retry.js";

const TIMEOUT_MS = 10_000;
const TRIES = 5;
/** Doubles with each try. */
const PAUSE_MS = 100;
/** A longer Retry-After is cut to this. */
const MAX_PAUSE_MS = 10_000;
const GONE = 410;
const MAX_CHECKPOINT_BYTES = 65_536;
/** A header after its length. */
const ENTRY_BYTES = 2 + BLOCK_HEADER_BYTES;
/** The number of a block's acknowledgements is the venue's own statement. */
const MAX_LIST_BYTES = 64 * 2 ** 20;

/** The venue does not hand out what its own checkpoint commits to. */
export class Withheld extends Error {
  override readonly name = "Withheld";
}

/** The part of a `Response` that is read. Without a stream, the body's size is not bounded. */
export interface FetchedBytes {
  readonly status: number;
  readonly headers?: HeadersLike;
  readonly body?: Response["body"];
  arrayBuffer(): Promise<ArrayBuffer>;
}

export type FetchBytes = (
  url: string,
  init: { readonly signal: AbortSignal },
) => Promise<FetchedBytes>;

export interface LogReaderOptions {
  /** For each response, head and body. Default: 10 s. */
  readonly timeoutMs?: number;
}

export interface ReadBlock {
  readonly header: BlockHeader;
  readonly proof: BlockProof;
}

export class LogReader {
  private readonly kept = new Map<string, Promise<Uint8Array>>();

  constructor(
    /** The venue's address, without a slash at the end. */
    readonly url: string,
    private readonly fetchBytes: FetchBytes = (url, init) => fetch(url, init),
    private readonly options: LogReaderOptions = {},
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
    return new TextDecoder().decode(await this.get("checkpoint", MAX_CHECKPOINT_BYTES));
  }

  /**
   * The signed notes that say which log key succeeded which; none of a venue that has never changed its key.
   *
   * @throws Withheld
   * @example
   * const reader = new LogReader("http://127.0.0.1:8080");
   * console.log(await reader.successors());
   */
  async successors(): Promise<readonly string[]> {
    const bytes = await this.get("successors", MAX_SUCCESSOR_BYTES);
    const notes = parseNotes(new TextDecoder().decode(bytes));
    if (notes === undefined) throw new Withheld("the successors of the log key cannot be read");
    return notes;
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
    const bundle = await this.once(tilePath(tile, true), tile.width * ENTRY_BYTES);
    const entries = entriesOf(bundle);
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
    const maxBytes = Math.min(header.ackCount * ACK_ENTRY_BYTES, MAX_LIST_BYTES);
    const list = await this.once(`acks/${header.number}`, maxBytes);
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
    const length = tile.width * TREE_HASH_BYTES;
    const bytes = await this.once(tilePath(tile), length);
    if (bytes.length === length) return bytes;
    throw new Withheld(`${tilePath(tile)} has ${bytes.length} bytes`);
  }

  private once(path: string, maxBytes: number): Promise<Uint8Array> {
    let bytes = this.kept.get(path);
    if (bytes === undefined) {
      bytes = this.get(path, maxBytes);
      this.kept.set(path, bytes);
      bytes.catch(() => this.kept.delete(path));
    }
    return bytes;
  }

  private async get(path: string, maxBytes: number): Promise<Uint8Array> {
    for (let tries = 1; ; tries++) {
      const answer = await this.ask(path, maxBytes);
      if (answer instanceof Uint8Array) return answer;
      if (answer.isFinal || tries === TRIES) throw new Withheld(`/tlog/${path} ${answer.reason}`);
      const waitMs = answer.retryAfterMs ?? PAUSE_MS * 2 ** (tries - 1);
      await pause(Math.min(waitMs, MAX_PAUSE_MS));
    }
  }

  private async ask(path: string, maxBytes: number): Promise<Uint8Array | Failure> {
    const { timeoutMs = TIMEOUT_MS } = this.options;
    try {
      return await withTimeLimit({ timeoutMs }, async (signal) => {
        const response = await this.fetchBytes(`${this.url}/tlog/${path}`, { signal });
        if (response.status === 200) return boundedBytes(response, maxBytes);
        await response.body?.cancel();
        const { status, headers } = response;
        // Older than `history.hotDays`. That nothing else is hidden so only the log itself can show.
        if (status === GONE) {
          const reason =
            "is older than what the venue keeps online (410); its operator has the log";
          return { reason, isFinal: true };
        }
        const retryAfterMs = headers === undefined ? undefined : retryAfterMsOf(headers);
        return { reason: `is answered with ${status}`, isFinal: false, retryAfterMs };
      });
    } catch (error) {
      const isFinal = error instanceof TimeLimitError || error instanceof BodyTooLargeError;
      return { reason: `fails: ${error instanceof Error ? error.message : error}`, isFinal };
    }
  }
}

interface Failure {
  readonly reason: string;
  /** Not repeated: it has cost the whole limit of time or size, or would be answered alike. */
  readonly isFinal: boolean;
  readonly retryAfterMs?: number | undefined;
}
