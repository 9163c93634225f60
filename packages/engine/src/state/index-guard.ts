/**
 * What a market knows about its recent indexes: the one that is held back, if any, and the lowest and
 * highest accepted index of each 200 ms of the last 10 s. The rules are in money/index-guard.ts.
 */
import { INDEX_GUARD_MS, TICK_MS } from "../config.js";
import { Table, type UndoLog } from "./table.js";

const SLOTS = INDEX_GUARD_MS / TICK_MS + 1;
const FIRST_SLOT = 3;

/**
 * The words of the row, in the order of the snapshot format: held index (0: none), since when, updates
 * near it; then per slot its number, the lowest and the highest index.
 */
export const GUARD_WORDS = FIRST_SLOT + SLOTS * 3;

export class IndexGuard {
  readonly table: Table;

  constructor(undo: UndoLog) {
    this.table = new Table(GUARD_WORDS, undo, 1);
    this.table.append();
  }

  /** Whether an index is held back. */
  get isHolding(): boolean {
    return this.table.data[0] !== 0;
  }
  get heldTicks(): number {
    return this.table.data[0]!;
  }
  get heldSinceMs(): number {
    return this.table.data[1]!;
  }
  /** Later updates that were near it. */
  get confirmations(): number {
    return this.table.data[2]!;
  }

  hold(ticks: number, timeMs: number): void {
    this.write(0, ticks);
    this.write(1, timeMs);
    this.write(2, 0);
  }

  confirm(): void {
    this.write(2, this.confirmations + 1);
  }

  release(): void {
    this.write(0, 0);
    this.write(1, 0);
    this.write(2, 0);
  }

  /** Forgets all accepted indexes. */
  forget(): void {
    this.table.touch(0);
    this.table.data.fill(0, FIRST_SLOT);
  }

  /** Remembers an accepted index. */
  remember(ticks: number, timeMs: number): void {
    const slot = Math.floor(timeMs / TICK_MS);
    const at = FIRST_SLOT + (slot % SLOTS) * 3;
    const { data } = this.table;
    const isSame = data[at] === slot;
    this.write(at + 1, isSame ? Math.min(ticks, data[at + 1]!) : ticks);
    this.write(at + 2, isSame ? Math.max(ticks, data[at + 2]!) : ticks);
    this.write(at, slot);
  }

  /** The lowest index that was accepted in the last 10 s, by whole slots; Infinity if none was. */
  lowest(timeMs: number): number {
    const { data } = this.table;
    const first = firstSlot(timeMs);
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = FIRST_SLOT; at < GUARD_WORDS; at += 3) {
      if (data[at]! >= first && data[at + 1]! > 0) lowest = Math.min(lowest, data[at + 1]!);
    }
    return lowest;
  }

  /** The highest; 0 if none was accepted. */
  highest(timeMs: number): number {
    const { data } = this.table;
    const first = firstSlot(timeMs);
    let highest = 0;
    for (let at = FIRST_SLOT; at < GUARD_WORDS; at += 3) {
      if (data[at]! >= first) highest = Math.max(highest, data[at + 2]!);
    }
    return highest;
  }

  private write(word: number, value: number): void {
    this.table.touch(0);
    this.table.data[word] = value;
  }
}

function firstSlot(timeMs: number): number {
  return Math.floor((timeMs - INDEX_GUARD_MS) / TICK_MS);
}
