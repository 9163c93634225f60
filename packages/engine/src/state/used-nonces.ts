/**
 * Sign-in nonces that were used: each counts until its time. Those whose time has passed are removed a
 * few per tick; until then they make no difference, in snapshots neither.
 */
import { NONE } from "./id-index.js";
import { FIXED_SEED, type HashSeed } from "./seeded-hash.js";
import { Float64Segments, Int32Segments } from "./segments.js";
import { TextCells } from "./text-cells.js";
import { TextIndex } from "./text-index.js";
import { Timers } from "./timers.js";

/** Removed per tick at most. */
const FORGOTTEN_PER_TICK = 1_024;

export class UsedNonces {
  private rows = 0;
  private readonly keys = new TextCells(95);
  private readonly untilMs = new Float64Segments();
  private readonly byKey: TextIndex;
  /** By row + 1: ids begin at 1. */
  private readonly expiries: Timers;
  private readonly free = new Int32Segments();
  private freeCount = 0;

  constructor(seed: HashSeed = FIXED_SEED) {
    this.byKey = new TextIndex(this.keys, seed);
    this.expiries = new Timers(seed);
  }

  isUsed(address: string, nonce: string, timeMs: number): boolean {
    const row = this.byKey.get(nonceKey(address, nonce));
    return row !== NONE && this.untilMs.get(row) > timeMs;
  }

  use(key: string, untilMs: number): void {
    const known = this.byKey.get(key);
    if (known !== NONE) this.byKey.delete(key, known);
    const row = this.freeCount > 0 ? this.free.get(--this.freeCount) : this.rows++;
    this.keys.set(row, key);
    this.untilMs.set(row, untilMs);
    this.byKey.add(key, row);
    this.expiries.set(row + 1, untilMs);
  }

  forget(timeMs: number): void {
    for (let i = 0; i < FORGOTTEN_PER_TICK && this.expiries.nextTime() <= timeMs; i++) {
      const row = this.expiries.pop() - 1;
      const key = this.keys.get(row);
      // One that was used again after its time has another row.
      if (this.byKey.get(key) === row) this.byKey.delete(key, row);
      this.keys.set(row, "");
      this.free.set(this.freeCount++, row);
    }
  }

  /** Keys that count at that time, with the time until which they do, ascending. */
  entries(timeMs: number): [key: string, untilMs: number][] {
    const entries: [string, number][] = [];
    for (let row = 0; row < this.rows; row++) {
      const key = this.keys.get(row);
      const untilMs = this.untilMs.get(row);
      if (key !== "" && untilMs > timeMs) entries.push([key, untilMs]);
    }
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** An address contains no space, so no two pairs share a key. */
export function nonceKey(address: string, nonce: string): string {
  return `${address} ${nonce}`;
}
