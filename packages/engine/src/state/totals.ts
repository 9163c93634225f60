/**
 * The venue's running totals, one row of a table. The engine touches it when a command begins, so
 * writes need no touch.
 */
import { Table, type UndoLog } from "./table.js";

/** The words of the row. Their order is part of the snapshot format. */
export const TOTALS_WORDS = 12;
const WORD = {
  FUND: 0,
  FEES: 1,
  DEPOSITS: 2,
  WALLETS: 3,
  MARGINS: 4,
  RESERVES: 5,
  COST: 6,
  NEXT_FUNDING: 7,
  BLOCK: 8,
  BLOCK_FIRST: 9,
  BLOCK_ACKS: 10,
  BLOCK_WORK: 11,
} as const;

export class Totals {
  readonly table: Table;

  constructor(private readonly undo: UndoLog) {
    this.table = new Table(TOTALS_WORDS, undo, 1);
    this.table.append();
  }

  /** The insurance fund. */
  get fund(): number {
    return this.table.data[WORD.FUND]!;
  }
  set fund(micros: number) {
    this.table.data[WORD.FUND] = micros;
  }
  get fees(): number {
    return this.table.data[WORD.FEES]!;
  }
  set fees(micros: number) {
    this.table.data[WORD.FEES] = micros;
  }
  /** Fund seed + grants + credits. */
  get deposits(): number {
    return this.table.data[WORD.DEPOSITS]!;
  }
  set deposits(micros: number) {
    this.table.data[WORD.DEPOSITS] = micros;
  }
  /** Σ over all accounts. */
  get wallets(): number {
    return this.table.data[WORD.WALLETS]!;
  }
  set wallets(micros: number) {
    this.table.data[WORD.WALLETS] = micros;
  }
  /** Σ over all positions. */
  get margins(): number {
    return this.table.data[WORD.MARGINS]!;
  }
  set margins(micros: number) {
    this.table.data[WORD.MARGINS] = micros;
  }
  /** Σ over all resting orders. */
  get reserves(): number {
    return this.table.data[WORD.RESERVES]!;
  }
  set reserves(micros: number) {
    this.table.data[WORD.RESERVES] = micros;
  }
  /** Σ over all positions, the backstop's included. */
  get cost(): number {
    return this.table.data[WORD.COST]!;
  }
  set cost(micros: number) {
    this.table.data[WORD.COST] = micros;
  }
  get nextFundingMs(): number {
    return this.table.data[WORD.NEXT_FUNDING]!;
  }
  set nextFundingMs(timeMs: number) {
    this.table.data[WORD.NEXT_FUNDING] = timeMs;
  }
  /** Number of the open block. */
  get block(): number {
    return this.table.data[WORD.BLOCK]!;
  }
  /** Acknowledgements in the open block. */
  get blockAcks(): number {
    return this.table.data[WORD.BLOCK_ACKS]!;
  }
  set blockAcks(count: number) {
    this.table.data[WORD.BLOCK_ACKS] = count;
  }
  /** Seq of the open block's first command. */
  get blockFirst(): number {
    return this.table.data[WORD.BLOCK_FIRST]!;
  }
  /** Whether a command other than a tick was executed in the open block. */
  get blockHasWork(): boolean {
    return this.table.data[WORD.BLOCK_WORK] !== 0;
  }

  markBlockWork(): void {
    this.table.data[WORD.BLOCK_WORK] = 1;
  }

  openBlock(block: number, firstSeq: number): void {
    const { data } = this.table;
    data[WORD.BLOCK] = block;
    data[WORD.BLOCK_FIRST] = firstSeq;
    data[WORD.BLOCK_ACKS] = 0;
    data[WORD.BLOCK_WORK] = 0;
  }

  /** Whether the command in progress has changed the fund or the fees. */
  get fundHasChanged(): boolean {
    // This row is the first that a command saves, so its old words come first in the undo log.
    return (
      this.fund !== this.undo.savedWord(WORD.FUND) || this.fees !== this.undo.savedWord(WORD.FEES)
    );
  }
}
