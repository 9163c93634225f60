/**
 * The highest nonces that a session executed, each with its order's id: at most `NONCE_WINDOW`
 * entries, ascending, in a chain of blocks of two cache lines. A nonce above all others, the usual
 * case, is written at the end of the last block; nothing is ever moved to make room.
 *
 * The blocks of all sessions are in one arena, and a session's row holds where its chain begins and
 * ends, so that millions of nonces are no objects for the garbage collector.
 */
import { NONCE_WINDOW } from "../config.js";
import { NONE } from "./id-index.js";
import { float64 } from "./memory.js";

/** Words of a block: the one before it, the one after it, then pairs of nonce and order id. */
const BLOCK_WORDS = 16;
const PREVIOUS = 0;
const NEXT = 1;
const PAIRS = 2;
const PAIRS_PER_BLOCK = 7;
const BLOCK_SHIFT = 9;
const BLOCKS = 1 << BLOCK_SHIFT;
const BLOCK_MASK = BLOCKS - 1;

/** Words of a session's row that belong to its window. */
export const WINDOW_WORDS = 6;
const COUNT = 0;
/** A copy of the last nonce: the check of a new order's nonce reads only the session's row. */
const HIGHEST = 1;
const HEAD = 2;
const TAIL = 3;
/** The first entry of the head block, and one past the last entry of the tail block. */
const START = 4;
const END = 5;

export class NonceBlocks {
  private readonly parts: Float64Array[] = [];
  private count = 0;
  private free = NONE;

  words(block: number): Float64Array {
    return this.parts[block >>> BLOCK_SHIFT]!;
  }

  base(block: number): number {
    return (block & BLOCK_MASK) * BLOCK_WORDS;
  }

  /** A block after `previous`, or the first of a chain (NONE). */
  allocate(previous: number): number {
    let block = this.free;
    if (block === NONE) {
      block = this.count++;
      if ((block & BLOCK_MASK) === 0) this.parts.push(float64(BLOCKS * BLOCK_WORDS));
    } else {
      this.free = this.words(block)[this.base(block) + NEXT]!;
    }
    const words = this.words(block);
    words[this.base(block) + PREVIOUS] = previous;
    words[this.base(block) + NEXT] = NONE;
    if (previous !== NONE) this.words(previous)[this.base(previous) + NEXT] = block;
    return block;
  }

  /** Frees the blocks from one to another of the same chain. */
  release(first: number, last: number): void {
    this.words(last)[this.base(last) + NEXT] = this.free;
    this.free = first;
  }
}

/** The window whose words begin at an index of an array. */
export class NonceWindow {
  constructor(
    private readonly blocks: NonceBlocks,
    private row: Float64Array,
    private at: number,
  ) {}

  moveTo(row: Float64Array, at: number): void {
    this.row = row;
    this.at = at;
  }

  /** Makes it an empty one. */
  begin(): void {
    const { row, at } = this;
    row[at + COUNT] = 0;
    row[at + HIGHEST] = -1;
    row[at + HEAD] = NONE;
    row[at + TAIL] = NONE;
    row[at + START] = 0;
    row[at + END] = PAIRS_PER_BLOCK;
  }

  /** Gives its blocks back. */
  release(): void {
    const head = this.row[this.at + HEAD]!;
    if (head !== NONE) this.blocks.release(head, this.row[this.at + TAIL]!);
    this.begin();
  }

  get count(): number {
    return this.row[this.at + COUNT]!;
  }

  /** The order id that used the nonce, or 0. */
  orderOf(nonce: number): number {
    const { row, at, blocks } = this;
    if (nonce > row[at + HIGHEST]! || row[at + COUNT] === 0) return 0;
    const head = row[at + HEAD]!;
    let block = row[at + TAIL]!;
    let end = row[at + END]!;
    for (;;) {
      const words = blocks.words(block);
      const pairs = blocks.base(block) + PAIRS;
      const first = block === head ? row[at + START]! : 0;
      for (let i = end - 1; i >= first; i--) {
        const each = words[pairs + 2 * i]!;
        if (each === nonce) return words[pairs + 2 * i + 1]!;
        if (each < nonce) return 0;
      }
      if (block === head) return 0;
      block = words[pairs - PAIRS + PREVIOUS]!;
      end = PAIRS_PER_BLOCK;
    }
  }

  /** Whether the nonce is below a full window, so that it is unknown whether it was used. */
  isTooOld(nonce: number): boolean {
    return this.count === NONCE_WINDOW && nonce < this.lowest();
  }

  lowest(): number {
    if (this.count === 0) return 0;
    const head = this.row[this.at + HEAD]!;
    const { blocks } = this;
    return blocks.words(head)[blocks.base(head) + PAIRS + 2 * this.row[this.at + START]!]!;
  }

  /** Adds an unused nonce that is not too old. */
  remember(nonce: number, orderId: number): void {
    const { row, at, blocks } = this;
    if (row[at + COUNT] === NONCE_WINDOW) this.dropLowest();
    let block = row[at + TAIL]!;
    let end = row[at + END]!;
    if (end === PAIRS_PER_BLOCK) {
      block = blocks.allocate(block);
      row[at + TAIL] = block;
      if (row[at + HEAD] === NONE) row[at + HEAD] = block;
      end = 0;
    }
    row[at + END] = end + 1;
    row[at + COUNT] = row[at + COUNT]! + 1;
    if (nonce > row[at + HIGHEST]!) {
      row[at + HIGHEST] = nonce;
      const pair = blocks.base(block) + PAIRS + 2 * end;
      const words = blocks.words(block);
      words[pair] = nonce;
      words[pair + 1] = orderId;
    } else {
      this.insert(block, end, nonce, orderId);
    }
  }

  /** Calls back with every nonce and its order id, ascending. */
  forEach(visit: (nonce: number, orderId: number) => void): void {
    const { row, at, blocks } = this;
    let block = row[at + HEAD]!;
    let i = row[at + START]!;
    for (let left = this.count; left > 0; left--) {
      if (i === PAIRS_PER_BLOCK) {
        block = blocks.words(block)[blocks.base(block) + NEXT]!;
        i = 0;
      }
      const pair = blocks.base(block) + PAIRS + 2 * i;
      visit(blocks.words(block)[pair]!, blocks.words(block)[pair + 1]!);
      i++;
    }
  }

  /** Moves larger entries up by one, from the free place after the last, and writes into the gap. */
  private insert(tail: number, free: number, nonce: number, orderId: number): void {
    const { row, at, blocks } = this;
    const head = row[at + HEAD]!;
    const start = row[at + START]!;
    let block = tail;
    let i = free;
    for (;;) {
      const words = blocks.words(block);
      const pair = blocks.base(block) + PAIRS + 2 * i;
      const isFirst = block === head && i === start;
      const before = i > 0 || isFirst ? block : words[blocks.base(block) + PREVIOUS]!;
      const j = i > 0 ? i - 1 : PAIRS_PER_BLOCK - 1;
      const from = blocks.base(before) + PAIRS + 2 * j;
      const source = blocks.words(before);
      if (isFirst || source[from]! < nonce) {
        words[pair] = nonce;
        words[pair + 1] = orderId;
        return;
      }
      words[pair] = source[from]!;
      words[pair + 1] = source[from + 1]!;
      block = before;
      i = j;
    }
  }

  private dropLowest(): void {
    const { row, at, blocks } = this;
    row[at + COUNT] = row[at + COUNT]! - 1;
    row[at + START] = row[at + START]! + 1;
    if (row[at + START] !== PAIRS_PER_BLOCK) return;
    const head = row[at + HEAD]!;
    const next = blocks.words(head)[blocks.base(head) + NEXT]!;
    blocks.release(head, head);
    row[at + HEAD] = next;
    row[at + START] = 0;
  }
}
