/**
 * The venue's running totals, one row of a table. The engine touches it when a command begins, so
 * writes need no touch.
 */
import { Table, type UndoLog } from "./table.js";

/** The words of a row, in the order of the snapshot format; literals, see orders.ts. */
export const TOTALS_WORDS = 14;

export class Totals {
  readonly table: Table;

  constructor(private readonly undo: UndoLog) {
    this.table = new Table(TOTALS_WORDS, undo, 1);
    this.table.append();
  }

  /** The insurance fund. */
  get fund(): number {
    return this.table.data[0]!;
  }
  set fund(micros: number) {
    this.table.data[0] = micros;
  }
  get fees(): number {
    return this.table.data[1]!;
  }
  set fees(micros: number) {
    this.table.data[1] = micros;
  }
  /** Fund seed + grants + credits. */
  get deposits(): number {
    return this.table.data[2]!;
  }
  set deposits(micros: number) {
    this.table.data[2] = micros;
  }
  /** Σ over all accounts. */
  get wallets(): number {
    return this.table.data[3]!;
  }
  set wallets(micros: number) {
    this.table.data[3] = micros;
  }
  /** Σ over all positions. */
  get margins(): number {
    return this.table.data[4]!;
  }
  set margins(micros: number) {
    this.table.data[4] = micros;
  }
  /** Σ over all resting orders. */
  get reserves(): number {
    return this.table.data[5]!;
  }
  set reserves(micros: number) {
    this.table.data[5] = micros;
  }
  /** Σ over all positions, the backstop's included. */
  get cost(): number {
    return this.table.data[6]!;
  }
  set cost(micros: number) {
    this.table.data[6] = micros;
  }
  get nextFundingMs(): number {
    return this.table.data[7]!;
  }
  set nextFundingMs(timeMs: number) {
    this.table.data[7] = timeMs;
  }
  /** Number of the open block. */
  get block(): number {
    return this.table.data[8]!;
  }
  /** Acknowledgements in the open block. */
  get blockAcks(): number {
    return this.table.data[10]!;
  }
  set blockAcks(count: number) {
    this.table.data[10] = count;
  }
  /** Seq of the open block's first command. */
  get blockFirst(): number {
    return this.table.data[9]!;
  }
  /** Whether a command other than a tick was executed in the open block. */
  get blockHasWork(): boolean {
    return this.table.data[11] !== 0;
  }

  /** Funding that has accrued and is not settled: negative where receivers settled first. */
  get fundingPool(): number {
    return this.table.data[12]!;
  }
  set fundingPool(micros: number) {
    this.table.data[12] = micros;
  }

  /** Σ over all markets of what their settlements lack or have left over. */
  get settlementPools(): number {
    return this.table.data[13]!;
  }
  set settlementPools(micros: number) {
    this.table.data[13] = micros;
  }

  markBlockWork(): void {
    this.table.data[11] = 1;
  }

  openBlock(block: number, firstSeq: number): void {
    const { data } = this.table;
    data[8] = block;
    data[9] = firstSeq;
    data[10] = 0;
    data[11] = 0;
  }

  /** Whether the command in progress has changed the fund or the fees. */
  get fundHasChanged(): boolean {
    // This row is the first that a command saves, so its old words come first in the undo log.
    return this.fund !== this.undo.savedWord(0) || this.fees !== this.undo.savedWord(1);
  }
}
